"""SageMaker HyperPod: a cluster's instance groups, as JSON for `create-cluster` or in CloudFormation.

Instance types keep their `ml.` prefix, including in the nodes' label.
"""

from __future__ import annotations

from qcheck.cluster.labels import Taint
from qcheck.cluster.nodes import LabelOrigin
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.nodepools.figures import Count, Figures, place
from qcheck.nodepools.pool import PoolDraft, PoolMachineTypes, finished, look_up
from qcheck.nodepools.provider_labels import Provided

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.nodes import NodePool
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

HYPERPOD = LabelOrigin("SageMaker HyperPod", before_boot=True)
AGENT = LabelOrigin("the HyperPod health agent", before_boot=False)
LABEL = "sagemaker.amazonaws.com/instance-group-name"
TYPE = "AWS::SageMaker::Cluster"


def read_pools(root: Cursor, context: PoolContext) -> Iterator[NodePool]:
    """Yield the groups of a request, or of every HyperPod cluster of a CloudFormation template; else none."""
    clusters = [root] if root["InstanceGroups"].exists else []
    clusters += [r["Properties"] for _, r in root["Resources"].mapping() if r["Type"].text() == TYPE]
    for cluster in clusters:
        for group in cluster["InstanceGroups"].items():
            yield _pool(group, context)


def _pool(group: Cursor, context: PoolContext) -> NodePool:
    figures, kind, bounds = Figures(), Figures(), Figures()
    name = figures.text(group["InstanceGroupName"]) or ""
    several = group["InstanceRequirements"]["InstanceTypes"]
    at = several if several.exists else group["InstanceType"]
    single = kind.text(at) if at is not several else None
    names = kind.texts(several) if at is several else (single,) if single else ()
    types = look_up(names, "sagemaker-hyperpod", context.own) if kind.doubt is None else PoolMachineTypes()
    most, least = bounds.whole(group["InstanceCount"]), bounds.whole(group["MinInstanceCount"])
    config = group["KubernetesConfig"]
    provided = Provided(HYPERPOD, {LABEL: name, "sagemaker.amazonaws.com/compute-type": "hyperpod"})
    health = Provided(AGENT, {"sagemaker.amazonaws.com/node-health-status": "Schedulable"})
    return finished(
        PoolDraft(
            name=name,
            format="HyperPod instance group",
            place=place(group),
            count=Count(
                place=place(group["InstanceCount"]),
                minimum=_low(least, most),
                desired=most,
                maximum=None if bounds.doubt else most or 0,
                doubt=bounds.doubt,
            ),
            machines=types.machines,
            type_place=place(at),
            machine_doubt=str(kind.doubt) if kind.doubt else types.doubt,
            labels=figures.labels(config["Labels"]),
            taints=tuple(_taint(t) for t in config["Taints"].items()),
            provided=(provided, health),
            spot=group["CapacityRequirements"]["Spot"].exists,
            autoscaler="HyperPod",
            group_label=(LABEL, name),
            other=figures,
        )
    )


def _low(least: int | None, most: int | None) -> int:
    """Return the minimum of a group, which may start with fewer nodes than wanted; without one, it is fixed."""
    return least if least is not None else most or 0


def _taint(at: Cursor) -> Taint:
    return Taint(at["Key"].text() or "", at["Value"].text() or "", at["Effect"].text() or "")
