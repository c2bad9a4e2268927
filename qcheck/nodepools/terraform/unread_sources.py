"""Unread parts of a Terraform configuration that may define nodes or queues: modules, Helm releases, other providers.

Their code is not available. Words in their names and arguments indicate nodes or queues; a network or a database defines
neither.
"""

from __future__ import annotations

import posixpath
import re
from itertools import islice

from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.hcl import HclDocument
from qcheck.nodepools.charts import is_software
from qcheck.nodepools.figures import place
from qcheck.nodepools.terraform import modules
from qcheck.nodepools.terraform.pools import READERS

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.terraform.resource import Resource

WORDS = (
    "node|pool|gpu|worker|karpenter|machine|eks|aks|gke|oke|k8s|kubernetes|cluster|compute|nvidia|accelerat|[ahb][12]00"
)
POOL_TYPES = "node_?pool|node_?group|worker_?pool|machine_?pool|machine_?set"
MACHINES = (
    "awscc_sagemaker_cluster", "oci_core_cluster_network", "oci_core_instance_pool", "oci_core_compute_gpu_memory_cluster",
)  # fmt: skip
"""Resource types with machines that join a Kubernetes cluster on their own."""
MARKS = (
    rf"""module\s+"[^"]*(?:{WORDS}|kueue)|source\s*=\s*"[^."][^"]*(?:{WORDS}|kueue)"""
    r"""|(?:cluster_autoscaling|compute_config|node_provisioning_profile|enable_autopilot)\b"""
    rf"""|resource\s+"(?:helm_release|\w*(?:{POOL_TYPES})|aws_autoscaling_group|azapi_resource|{"|".join(MACHINES)})"""
)
"""Text of configurations that may contain unread sources of nodes."""
NODE_WORDS = re.compile(rf"(?i){WORDS}")
POOL_TYPE = re.compile(POOL_TYPES)
"""Resource types that are node pools, of any provider."""
NO_POOL_TYPE = re.compile(r"^google_(?:cloudbuild|cloud_run)_")
"""Workers of services that are not nodes of a cluster."""
JOINS_CLUSTER = re.compile(r"kubernetes\.io/cluster/|k8s\.io/cluster-autoscaler|eks:cluster-name|kops\.k8s\.io")
"""Tags of machines that belong to a Kubernetes cluster."""
AGENT_POOLS = re.compile(r"(?i)Microsoft\.ContainerService/managedClusters(?:/agentPools)?@")
POOL_VALUES = re.compile(
    r"(?i)node_?-?pools?\b|\bpools?\b|node_?-?groups?\b|node_?class|instance_?-?types?|machine_?-?types?|provisioner"
)
QUEUE_MODULE = re.compile(r"(?i)kueue|(?:cluster|local)[_-]?queues?")
QUEUE_RELEASE = re.compile(
    r"(?i)queues?\b|kueue[_-](?:config\w*|resources?|setup|objects?|manifests?)|flavou?rs?\b|cohorts?\b"
)
"""Words in the names of modules and of Helm releases that define queues."""
QUEUE_VALUES = re.compile(r"(?i)queues\b|flavou?rs\b|nominal_?-?quota|\bcohorts?\b")
AUTOPILOT = re.compile(r"^module .*kubernetes-engine.*autopilot")
ADDS_POOLS = "which adds node pools by itself"
HELP = "Add its code, its rendered output or a Terraform plan as JSON to the paths."
OTHER_MODULES = re.compile(
    r"(?i)(?:^|[/_-])(?:vpc|vnet|network|networking|subnets?|security-group|iam[\w-]*|s3[\w-]*|rds[\w-]*|kms|ecr|acm|alb|elb|nlb"
    r"|route53|dns|lambda|dynamodb[\w-]*|sqs|sns|efs|fsx[\w-]*|bastion|bucket|storage|cloud-storage|sql[\w-]*|redis|elasticache"
    r"|secrets?[\w-]*|key-?vault|log-analytics|monitoring|observability|prometheus|grafana|blueprints-addons?|ebs-csi[\w-]*"
    r"|pod-identity|label|context)(?:/aws|/google|/azurerm|/oci|/null|\.git|[?/]|$)"
)
"""Words in the source of modules that define no nodes."""


def elsewhere(resources: Iterable[Resource], folders: Container[str]) -> list[Problem]:
    """Return one problem for each unread source that may define nodes or queues; repeated instances count once.

    `folders` are the directories with HCL that was read.
    """
    found: dict[tuple[ProblemCode, str], Problem] = {}
    for resource in resources:
        at, address = place(resource.values), resource.address
        for what in islice(_may_bring_nodes(resource, folders), 1):
            code = ProblemCode.NODES_ELSEWHERE
            found.setdefault((code, at.line), Problem(code, at, what, data={"address": address}))
        for what in _may_bring_queues(resource, folders):
            code, message = ProblemCode.QUEUES_ELSEWHERE, f"{what} was not read: it may define queues"
            found.setdefault((code, at.line), Problem(code, at, message, HELP, data={"address": address}))
    return list(found.values())


def _may_bring_queues(resource: Resource, folders: Container[str]) -> Iterator[str]:
    """Yield the name of a module or Helm release that may define queues."""
    if resource.type.startswith("module "):
        source = resource.type.removeprefix("module ")
        is_named = QUEUE_MODULE.search(f"{source} {resource.label}") and not is_software(resource.label)
        if is_named and not modules.is_known(source) and not _is_read(resource, source, folders):
            yield f"{resource.address} ({source})"
    elif resource.type == "helm_release":
        name, chart, short = _chart_of(resource)
        named = QUEUE_RELEASE.search(f"{name} {short} {resource.label}")
        if not is_software(short) and (named or QUEUE_VALUES.search(_written_values(resource))):
            yield f"{resource.address} (chart {chart or name})"


def _is_read(resource: Resource, source: str, folders: Container[str]) -> bool:
    """Return whether a module is a directory whose HCL was read."""
    home = posixpath.dirname(resource.values.document.path)
    return source.startswith(".") and posixpath.normpath(posixpath.join(home, source)) in folders


def _may_bring_nodes(resource: Resource, folders: Container[str]) -> Iterator[str]:
    """Yield the name of a resource that may define nodes."""
    if resource.type.startswith("module "):
        source = resource.type.removeprefix("module ")
        if _is_read(resource, source, folders):
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
    elif _is_unread_pool(resource):
        yield f"{resource.address} ({resource.type}, a format that qcheck does not read)"


def _is_unread_pool(resource: Resource) -> bool:
    """Return whether a resource defines nodes, but is not read as a pool."""
    kind = resource.type
    if kind == "aws_autoscaling_group":
        return JOINS_CLUSTER.search(str(resource.values.data)) is not None
    if kind == "azapi_resource":
        of_pools = AGENT_POOLS.match(resource.values["type"].text() or "")
        return of_pools is not None and not isinstance(resource.values["body"].data, dict)
    return kind in MACHINES or (bool(POOL_TYPE.search(kind)) and kind not in READERS and not NO_POOL_TYPE.match(kind))


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
    name, chart, short = _chart_of(resource)
    if is_software(short):
        return
    named = re.search(r"(?i)node|pool|karpenter|machine|provisioner", f"{name} {short} {resource.label}")
    if named or POOL_VALUES.search(_written_values(resource)):
        yield f"{resource.address} (chart {chart or name})"


def _chart_of(resource: Resource) -> tuple[str, str, str]:
    """Return the name of a Helm release, its chart as written, and the chart's own name."""
    values = resource.values
    name, chart = values["name"].text() or resource.label, values["chart"].text() or ""
    return name, chart, chart.rstrip("/").rpartition("/")[2] or name


def _written_values(resource: Resource) -> str:
    """Return the text of a Helm release's values."""
    document = resource.values.document
    if not isinstance(document, HclDocument):
        return ""
    return " ".join(document.written((*resource.values.route, key)) for key in ("values", "set"))
