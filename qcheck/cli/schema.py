"""`qcheck schema`: the JSON Schemas of what qcheck reads and writes."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Annotated, Literal

import typer

from qcheck.cli.output import to_stdout

MODULES = {"config": "qcheck.settings.schema", "report": "qcheck.reports.schema", "nodepool": "qcheck.nodepools.schema"}


def schema(of: Annotated[Literal["config", "report", "nodepool"], typer.Argument()]) -> None:
    """Print a JSON Schema: of qcheck.yaml (config), of --format json (report), or of the NodePool format (nodepool)."""
    text: str = json.dumps(import_module(MODULES[of]).json_schema(), indent=2)
    to_stdout(text + "\n")
