"""Agreement with what the real Kueue decided, where those recordings are at hand beside the project.

They are kept outside of the repository, in `shared/verdicts` beside it; without them this is skipped.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from qcheck.cluster.assemble import assemble
from qcheck.cluster.policy import Policy
from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.decode import decode
from qcheck.schedulers.kueue.admission import decide

if TYPE_CHECKING:
    from qcheck.cluster.cluster import Cluster

_PROJECT = Path(__file__).resolve().parent.parent
RECORDED = next((p / "shared" / "verdicts" for p in _PROJECT.parents if (p / "shared" / "verdicts").is_dir()), None)


def read_cluster(file: Path) -> Cluster:
    documents = load(file.read_bytes(), file.name).documents
    return assemble("default", Policy(), [o for d in documents if (o := decode(root(d))) is not None])


def differences(folder: Path, recorded: list[dict[str, Any]]) -> list[str]:
    cluster = read_cluster(folder / "cluster.yaml")
    workloads = {w.name: w for w in cluster.workloads}
    found = []
    for verdict in recorded:
        decision = decide(cluster, workloads[verdict["job"]])
        flavors = {r: f for a in decision.assigned for r, f in a.flavors.items()} if decision.admitted else {}
        if (decision.admitted, flavors) != (verdict["admitted"], verdict.get("flavors", {})):
            reasons = "; ".join(r.message for r in decision.reasons)
            found.append(
                f"{folder.name}/{verdict['job']}: {decision.admitted} {flavors} {reasons}; recorded: {verdict}"
            )
    return found


@pytest.mark.skipif(RECORDED is None, reason="no recorded verdicts beside the project")
def test_decisions_are_those_of_kueue() -> None:
    assert RECORDED is not None
    verdicts = json.loads((RECORDED / "verdicts.json").read_text())
    by_cluster: dict[str, list[dict[str, Any]]] = {}
    for verdict in verdicts:
        by_cluster.setdefault(verdict["cluster"], []).append(verdict)
    found = [line for cluster, each in by_cluster.items() for line in differences(RECORDED / cluster, each)]
    print(f"{len(verdicts) - len(found)} of {len(verdicts)} decisions agree")
    assert not found, "\n".join(found)
