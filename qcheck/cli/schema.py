"""`qcheck schema`: the JSON Schemas of what qcheck reads and writes."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Annotated

import typer

from qcheck.cli.output import UsageError, to_stdout
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.policy import NEWEST_KUEUE, Policy
from qcheck.cluster.quantity import whole
from qcheck.kinds.schema.catalogue import SERVED
from qcheck.kinds.schema.published import kueue_schema

MODULES = {
    "config": "qcheck.settings.schema",
    "report": "qcheck.reports.schema",
    "nodepool": "qcheck.nodepools.qcheck_schema",
    "capacity": "qcheck.reports.capacity_schema",
    "admit": "qcheck.reports.admission_schema",
    "diff": "qcheck.reports.diff_schema",
    "suggest": "qcheck.reports.suggest_schema",
    "drift": "qcheck.reports.drift_schema",
    "shares": "qcheck.reports.shares_schema",
    "simulate": "qcheck.reports.simulation_schema",
    "scenario": "qcheck.pipeline.scenario",
    "preemption": "qcheck.reports.preemption_schema",
    "rules": "qcheck.reports.rules_schema",
}
NEWEST = "v1beta2"
DEFAULT_RELEASE = str(Policy().kueue)


def known() -> list[str]:
    """Return the names that have a schema."""
    return [*MODULES, *SERVED]


def schema(
    of: Annotated[
        str, typer.Argument(metavar="NAME", help="One of the names above, or a Kueue kind.", autocompletion=known)
    ],
    api_version: Annotated[
        str, typer.Option("--api-version", metavar="VERSION", help="For a Kueue kind: v1beta1 or v1beta2.")
    ] = NEWEST,
    kueue: Annotated[
        str, typer.Option("--kueue", metavar="RELEASE", help="For a Kueue kind: the Kueue release.")
    ] = DEFAULT_RELEASE,
) -> None:
    """Print the JSON Schema of a file that qcheck reads, of its JSON output, or of a Kueue kind.

    Files: config (qcheck.yaml), nodepool, scenario. JSON output: report (of check and merge), capacity, admit, diff, suggest,
    drift, shares, simulate, preemption (of explain preemption), rules. Kueue kinds, such as ClusterQueue, by release.
    """
    of = next((name for name in known() if name.lower() == of.lower()), of)
    found = import_module(MODULES[of]).json_schema() if of in MODULES else _of_kind(of, api_version, kueue)
    to_stdout(json.dumps(found, indent=2) + "\n")


def _of_kind(kind: str, version: str, release: str) -> dict[str, object]:
    if kind not in SERVED:
        near = nearest(kind, known())
        hint = f"Did you mean {near}?" if near else f"Known are {', '.join(known())}."
        raise UsageError(f"there is no schema for {kind!r}", hint)
    major, minor = map(whole, release.partition(".")[::2])
    if major is None or minor is None:
        raise UsageError(f"{release!r} is not a release of Kueue", f"Write it as {DEFAULT_RELEASE}.")
    if not NEWEST_KUEUE.at_least(minor, major):
        raise UsageError(f"Kueue {release} is not known", f"Known are the releases up to {NEWEST_KUEUE}.")
    try:
        return kueue_schema(kind, version.rpartition("/")[2], (major, minor))
    except KeyError:
        raise UsageError(f"Kueue {release} has no {version} of {kind}") from None
