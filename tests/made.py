"""Hand-made findings and results, for tests of what happens after checking."""

from __future__ import annotations

from qcheck.cluster.objects import ObjectId
from qcheck.cluster.place import Place
from qcheck.cluster.value import replace
from qcheck.documents.load import load
from qcheck.findings.catalogue import Rule
from qcheck.findings.finding import Finding, finding
from qcheck.findings.result import FileRead, Inputs, NotRead, Result, Skipped
from qcheck.findings.settle import SettleTerms, settle
from qcheck.findings.severity import Severity

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: team-a
spec:
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - name: nvidia.com/gpu
        nominalQuota: 96
"""
POOL = """\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata:
  name: h100
spec:
  count: 8
  instanceType: a3-highgpu-8g
"""
QUOTA_ROUTE = ("spec", "resourceGroups", 0, "flavors", 0, "resources", 0, "nominalQuota")


def rule(identifier: str, name: str, severity: str = "error") -> Rule:
    return Rule(
        id=identifier,
        name=name,
        family="capacity",
        severity=Severity(severity),
        summary=f"What {name} means.",
        fix=f"Fix {name}.",
    )


CATALOGUE = {
    r.id: r
    for r in (
        rule("QC012", "suppression-problem", "warning"),
        rule("QC013", "baseline-stale", "note"),
        rule("QC101", "quota-exceeds-capacity"),
        rule("QC205", "flavors-share-nodes", "warning"),
        rule("QC206", "nodes-without-flavor", "note"),
        rule("QC415", "cohort-quota-adds-up"),
    )
}
TEAM_A = ObjectId("kueue.x-k8s.io", "v1beta2", "ClusterQueue", "team-a")


def place(text: str = QUEUE, path: str = "queues/team-a.yaml", route: tuple[str | int, ...] = QUOTA_ROUTE) -> Place:
    return Place(load(text, path).documents[0], route)


def pool_place() -> Place:
    return place(POOL, "pools/h100.yaml", ("spec", "count"))


def over_quota(at: Place | None = None) -> Finding:
    """QC101, with a place in a queue and one in a pool."""
    found = finding(at or place(), "h100 reserves 96 nvidia.com/gpu; its nodes hold 64", "96 reserved")
    found = found.near(pool_place(), "8 nodes x 8 = 64").about(TEAM_A).with_data(reserved=96, ceiling=64, short=32)
    return replace(found, rule=CATALOGUE["QC101"])


def of_rule(found: Finding, identifier: str) -> Finding:
    return replace(found, rule=CATALOGUE[identifier])


def settled(*findings: Finding, terms: SettleTerms | None = None, inputs: Inputs | None = None) -> Result:
    terms = replace(terms or SettleTerms(), catalogue=CATALOGUE)
    read = tuple(FileRead(path, documents=1, size=100) for path in ("queues/team-a.yaml", "pools/h100.yaml"))
    inputs = inputs or Inputs(files=2, documents=2, objects=2, read=read)
    return settle(findings, inputs, tuple(CATALOGUE.values()), (), terms)


def incomplete_inputs() -> Inputs:
    """Inputs of which something was not judged."""
    return Inputs(
        files=3,
        documents=2,
        objects=2,
        not_read=(NotRead("charts/queue.yaml", "a template"),),
        skipped=(Skipped(CATALOGUE["QC205"], "no node pool was read"),),
        unjudged=("broken.yaml: not valid YAML",),
    )
