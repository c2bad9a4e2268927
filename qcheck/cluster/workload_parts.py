"""Combines workloads that are spread over several documents: TrainJobs, prebuilt Workloads, pod groups."""

from __future__ import annotations

from qcheck.cluster.labels import NodeSelection
from qcheck.cluster.quantity import whole
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.workloads import PodSet

if TYPE_CHECKING:
    from collections.abc import Iterable

    from qcheck.cluster.place import Place
    from qcheck.cluster.pods import PodTemplate
    from qcheck.cluster.workloads import TemplateOverride, TrainingRuntime, TrainRecipe, Workload

PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
GROUP_NAME = "kueue.x-k8s.io/pod-group-name"
GROUP_TOTAL = "kueue.x-k8s.io/pod-group-total-count"
FAST_ADMISSION = "kueue.x-k8s.io/pod-group-fast-admission"
_TRAINER_CONTAINER = "node"


def joined(workloads: Iterable[Workload], runtimes: Iterable[TrainingRuntime]) -> tuple[Workload, ...]:
    """Return workloads with all known facts about their pods; the Pods of a group become one workload."""
    given = list(workloads)
    known = {(r.id.kind, r.id.namespace, r.name): r for r in runtimes}
    prebuilt = {(w.namespace, w.name): w for w in given if w.id.group == "kueue.x-k8s.io"}
    whole = [_with_prebuilt(_trained(w, known), prebuilt) for w in given]
    return _grouped(whole)


def _trained(workload: Workload, runtimes: dict[tuple[str, str | None, str], TrainingRuntime]) -> Workload:
    """Return a TrainJob with the pod sets of its runtime; if the runtime is not among the files, `not_read` says so."""
    recipe = workload.recipe
    if recipe is None:
        return workload
    namespace = workload.namespace if recipe.runtime_kind == "TrainingRuntime" else None
    runtime = runtimes.get((recipe.runtime_kind, namespace, recipe.runtime))
    if runtime is None:
        missing = f"its {recipe.runtime_kind} {recipe.runtime} was not found in the files, so its pods are unknown"
        return replace(workload, not_read=missing)
    pod_sets = tuple(_trainer_set(p, i in runtime.trainer, recipe, runtime) for i, p in enumerate(runtime.pod_sets))
    return replace(workload, pod_sets=pod_sets)


def _trainer_set(pod_set: PodSet, is_trainer: bool, recipe: TrainRecipe, runtime: TrainingRuntime) -> PodSet:
    template = pod_set.template
    for override in recipe.overrides:
        if not override.jobs or pod_set.name in override.jobs:
            template = _overridden(template, override)
    if not is_trainer:
        return replace(pod_set, template=template)
    nodes = recipe.nodes if recipe.nodes is not None else runtime.nodes
    count = pod_set.count if nodes is None else nodes
    count_place = recipe.nodes_place if recipe.nodes is not None else pod_set.count_place
    return replace(pod_set, template=_with_resources(template, recipe), count=count, count_place=count_place)


def _with_resources(template: PodTemplate, recipe: TrainRecipe) -> PodTemplate:
    """Replace the resources of the container `node`, or of the only container, with `resourcesPerNode`."""
    if not recipe.requests and not recipe.limits:
        return template
    alone = len(template.containers) == 1
    given = {"requests": recipe.requests, "limits": recipe.limits}
    containers = tuple(replace(c, **given) if alone or c.name == _TRAINER_CONTAINER else c for c in template.containers)
    return replace(template, containers=containers)


def _overridden(template: PodTemplate, override: TemplateOverride) -> PodTemplate:
    selection = NodeSelection(
        {**template.selection.selector, **override.selection.selector},
        template.selection.terms if override.selection.terms is None else override.selection.terms,
    )
    return replace(template, selection=selection, tolerations=(*template.tolerations, *override.tolerations))


def _with_prebuilt(workload: Workload, prebuilt: dict[tuple[str, str], Workload]) -> Workload:
    """Return a job with the pod sets of the prebuilt Workload that it names, if any."""
    name = workload.labels.get(PREBUILT) or workload.annotations.get(PREBUILT)
    if not name or workload.id.group == "kueue.x-k8s.io":
        return workload
    built = prebuilt.get((workload.namespace, name))
    if built is None:
        return replace(workload, not_read=f"its prebuilt Workload {name} was not found in the files")
    return replace(workload, pod_sets=built.pod_sets)


def group_of(workload: Workload) -> str | None:
    """Return the pod group that a Pod names."""
    if workload.framework != "pod":
        return None
    return workload.labels.get(GROUP_NAME) or workload.annotations.get(GROUP_NAME) or None


def _grouped(workloads: list[Workload]) -> tuple[Workload, ...]:
    groups: dict[tuple[str, str], list[Workload]] = {}
    for each in workloads:
        name = group_of(each)
        if name is not None:
            groups.setdefault((each.namespace, name), []).append(each)
    first = {id(members[0]): members for members in groups.values()}
    return tuple(
        _as_one(first[id(w)]) if id(w) in first else w for w in workloads if group_of(w) is None or id(w) in first
    )


def _as_one(members: list[Workload]) -> Workload:
    """Return a pod group as one workload with one pod set per role, that is, per pod shape."""
    total = declared_total(members[0])
    if members[0].annotations.get(FAST_ADMISSION) == "true" and total is not None:
        main = members[0].pod_sets[0]
        return replace(members[0], pod_sets=(replace(main, count=total),), members=tuple(members))
    roles: list[tuple[PodTemplate, list[Workload]]] = []
    for member in members:
        shape = _shape(member, members[0].place)
        alike = next((pods for known, pods in roles if known == shape), None)
        if alike is None:
            roles.append((shape, [member]))
        else:
            alike.append(member)
    pod_sets = tuple(
        replace(pods[0].pod_sets[0], name=pods[0].name, count=len(pods), count_place=pods[0].name_place)
        for _, pods in roles
    )
    return replace(members[0], pod_sets=pod_sets, members=tuple(members))


def declared_total(member: Workload) -> int | None:
    """Return the group's total number of pods, as stated by one of its members."""
    return whole(member.annotations.get(GROUP_TOTAL, ""))


def _shape(pod: Workload, anywhere: Place) -> PodTemplate:
    """Return the pod without what may differ within a role: names, labels and places (which become `anywhere`)."""
    template = pod.pod_sets[0].template
    containers = tuple(replace(c, place=anywhere, name="") for c in template.containers)
    inits = tuple(replace(c, place=anywhere, name="") for c in template.init_containers)
    blank: dict[str, str] = {}
    return replace(
        template,
        place=anywhere,
        metadata_place=anywhere,
        labels=blank,
        annotations=blank,
        containers=containers,
        init_containers=inits,
    )
