"""Unread parts of a Terraform configuration that may define nodes: modules, Helm releases, other providers.

Their code is not available. Words in their names and arguments indicate nodes; a network or a database defines none.
"""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.hcl import HclDocument
from qcheck.nodepools.charts import is_software
from qcheck.nodepools.scalars import place
from qcheck.nodepools.terraform import modules
from qcheck.nodepools.terraform.pools import READERS

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.terraform.resource import Resource

WORDS = (
    "node|pool|gpu|worker|karpenter|machine|eks|aks|gke|oke|k8s|kubernetes|cluster|compute|nvidia|accelerat|[ahb][12]00"
)
MARKS = (
    rf"""module\s+"[^"]*(?:{WORDS})|source\s*=\s*"[^."][^"]*(?:{WORDS})"""
    r"""|(?:cluster_autoscaling|compute_config|node_provisioning_profile|enable_autopilot)\b"""
    r"""|resource\s+"(?:helm_release|\w*(?:node_?pool|node_?group|worker_?pool|machine_?pool|machine_?set))"""
)
"""Text of configurations that may contain unread sources of nodes."""
NODE_WORDS = re.compile(rf"(?i){WORDS}")
POOL_TYPE = re.compile(r"node_?pool|node_?group|worker_?pool|machine_?pool|machine_?set")
"""Resource types that are node pools, of any provider."""
POOL_VALUES = re.compile(
    r"(?i)node_?-?pools?\b|\bpools?\b|node_?-?groups?\b|node_?class|instance_?-?types?|machine_?-?types?|provisioner"
)
AUTOPILOT = re.compile(r"^module .*kubernetes-engine.*autopilot")
ADDS_POOLS = "which adds node pools by itself"
OTHER_MODULES = re.compile(
    r"(?i)(?:^|[/_-])(?:vpc|vnet|network|networking|subnets?|security-group|iam[\w-]*|s3[\w-]*|rds[\w-]*|kms|ecr|acm|alb|elb|nlb"
    r"|route53|dns|lambda|dynamodb[\w-]*|sqs|sns|efs|fsx[\w-]*|bastion|bucket|storage|cloud-storage|sql[\w-]*|redis|elasticache"
    r"|secrets?[\w-]*|key-?vault|log-analytics|monitoring|observability|prometheus|grafana|blueprints-addons?|ebs-csi[\w-]*"
    r"|pod-identity|label|context)(?:/aws|/google|/azurerm|/oci|/null|\.git|[?/]|$)"
)
"""Words in the source of modules that define no nodes."""


def elsewhere(resources: Iterable[Resource], folders: Container[str]) -> list[Problem]:
    """Return one problem for each unread source that may define nodes; repeated instances count once.

    `folders` are the directories with HCL that was read.
    """
    found: dict[str, Problem] = {}
    for resource in resources:
        what = next(_may_bring_nodes(resource, folders), None)
        if what is not None:
            at = place(resource.values)
            found.setdefault(
                at.line, Problem(ProblemCode.NODES_ELSEWHERE, at, what, data={"address": resource.address})
            )
    return list(found.values())


def _may_bring_nodes(resource: Resource, folders: Container[str]) -> Iterator[str]:
    """Yield the name of a resource that may define nodes."""
    if resource.type.startswith("module "):
        source = resource.type.removeprefix("module ")
        if source.startswith("."):
            home = posixpath.dirname(resource.values.document.path)
            if posixpath.normpath(posixpath.join(home, source)) in folders:
                return
        arguments = resource.values.data if isinstance(resource.values.data, dict) else {}
        words = " ".join((source, resource.label, *map(str, arguments)))
        if modules.is_known(source) and _adds_pools(resource):
            yield f"{resource.address} ({ADDS_POOLS})"
        if not modules.is_known(source) and NODE_WORDS.search(words) and not OTHER_MODULES.search(source):
            yield f"{resource.address} ({source})"
    elif resource.type == "helm_release":
        yield from _release(resource)
    elif _adds_pools(resource):
        yield f"{resource.address} ({ADDS_POOLS})"
    elif POOL_TYPE.search(resource.type) and resource.type not in READERS:
        yield f"{resource.address} ({resource.type}, a format that qcheck does not read)"


def _adds_pools(resource: Resource) -> bool:
    """Return whether the provider creates node pools for pods that fit on no existing one.

    These are node auto-provisioning of GKE and AKS, Autopilot, and EKS Auto Mode. The arguments of the supported
    modules are named like the fields of the resources.
    """
    values = resource.values
    if values["enable_autopilot"].meant() == "true" or AUTOPILOT.search(resource.type):
        return True
    blocks = ("cluster_autoscaling", "compute_config", "cluster_compute_config")
    if any(_only(values[block])["enabled"].meant() == "true" for block in blocks):
        return True
    return _only(values["node_provisioning_profile"])["mode"].text() == "Auto"


def _only(at: Cursor) -> Cursor:
    """Return a block that may occur once: the only item of a list, or the value itself."""
    return next(iter(at.items()), at)


def _release(resource: Resource) -> Iterator[str]:
    values = resource.values
    name, chart = values["name"].text() or resource.label, values["chart"].text() or ""
    short = chart.rstrip("/").rpartition("/")[2] or name
    if is_software(short):
        return
    document = values.document
    written = ""
    if isinstance(document, HclDocument):
        written = " ".join(document.written((*values.route, key)) for key in ("values", "set"))
    named = re.search(r"(?i)node|pool|karpenter|machine|provisioner", f"{name} {short} {resource.label}")
    if named or POOL_VALUES.search(written):
        yield f"{resource.address} (chart {chart or name})"
