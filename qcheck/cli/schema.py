"""`qcheck schema`: the JSON Schemas of what qcheck reads and writes."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer

from qcheck.cli.output import to_stdout


def schema(of: Annotated[Literal["config"], typer.Argument(metavar="config|report|nodepool")]) -> None:
    """Print a JSON Schema: of qcheck.yaml (config), of `--format json` (report), or of the NodePool format (nodepool)."""
    to_stdout(json.dumps(SCHEMAS[of](), indent=2) + "\n")


def _config() -> dict[str, object]:
    from qcheck.settings.schema import json_schema

    return json_schema()


SCHEMAS = {"config": _config}
