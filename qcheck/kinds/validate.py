"""Validates objects as the API server and Kueue's webhooks do, but reports all errors at once."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.kinds.api_versions import version_problems
from qcheck.kinds.quantities import quantity_problems
from qcheck.kinds.schema.catalogue import CONFIG, KUEUE, OWN, described
from qcheck.kinds.schema.failure import QUOTE, REQUIRED, WRONG_TYPE, Failure, as_sentence, field_path
from qcheck.kinds.shared_fields import object_id
from qcheck.kinds.validation.likeness import likeness
from qcheck.kinds.validation.metadata import metadata
from qcheck.kinds.validation.target import Target

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qcheck.cluster.objects import ObjectId
    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.catalogue import Described

    Refusal = Callable[[Cursor, Target], Iterator[Failure]]

NO_OBJECTS = (CONFIG, OWN)
"""Groups of files that no API server stores: names may be anything, and quantities stay as they are written."""
_MANAGED = ("jobs", "managed")
_REFUSALS: dict[tuple[str, str], tuple[tuple[str, str], ...]] = {
    (CONFIG, "Configuration"): (("configuration", "configuration"),),
    (KUEUE, "ClusterQueue"): (("queues", "cluster_queue"),),
    (KUEUE, "Cohort"): (("queues", "cohort"),),
    (KUEUE, "ResourceFlavor"): (("flavors", "resource_flavor"),),
    (KUEUE, "Topology"): (("flavors", "topology"),),
    (KUEUE, "MultiKueueCluster"): (("flavors", "multikueue_cluster"),),
    (KUEUE, "MultiKueueConfig"): (("flavors", "multikueue_config"),),
    (KUEUE, "Workload"): (("workload", "workload"),),
    ("", "Pod"): (("builtin", "pod"), _MANAGED),
    ("batch", "Job"): (("builtin", "job"), _MANAGED),
    ("batch", "CronJob"): (("builtin", "cron_job"), _MANAGED),
    ("apps", "Deployment"): (("builtin", "replicated"), _MANAGED),
    ("apps", "ReplicaSet"): (("builtin", "replicated"),),
    ("apps", "StatefulSet"): (("builtin", "replicated"), _MANAGED),
    ("apps", "DaemonSet"): (("builtin", "replicated"),),
    ("autoscaling", "HorizontalPodAutoscaler"): (("builtin", "horizontal_pod_autoscaler"),),
    ("keda.sh", "ScaledObject"): (("builtin", "scaled_object"),),
    (OWN, "NodePool"): (("qcheck_node_pool", "node_pool"),),
    ("scheduling.run.ai", "Queue"): (("kai", "queue"),),
    ("scheduling.run.ai", "PodGroup"): (("kai", "pod_group"),),
    ("kai.scheduler", "SchedulingShard"): (("kai", "scheduling_shard"),),
    ("kai.scheduler", "Topology"): (("kai", "topology"),),
    ("scheduling.volcano.sh", "Queue"): (("volcano", "queue"),),
    ("scheduling.volcano.sh", "PodGroup"): (("volcano", "pod_group"),),
    ("batch.volcano.sh", "Job"): (("volcano", "job"),),
    ("batch.volcano.sh", "CronJob"): (("volcano", "cron_job"),),
    ("topology.volcano.sh", "HyperNode"): (("volcano", "hyper_node"),),
    ("flow.volcano.sh", "JobFlow"): (("volcano", "job_flow"),),
    ("flow.volcano.sh", "JobTemplate"): (("volcano", "job"),),
    ("sparkoperator.k8s.io", "SparkApplication"): (("jobs", "spark"),),
    **{
        (group, kind): (_MANAGED,)
        for group, kinds in {
            "jobset.x-k8s.io": ("JobSet",),
            "ray.io": ("RayCluster", "RayJob", "RayService"),
            "kubeflow.org": ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob"),
            "leaderworkerset.x-k8s.io": ("LeaderWorkerSet",),
            "trainer.kubeflow.org": ("TrainJob",),
            "workload.codeflare.dev": ("AppWrapper",),
        }.items()
        for kind in kinds
    },
}
"""The functions of `validation` for each kind; their modules are imported only for kinds that are present."""


MOST = 2000
_right: set[bytes] = set()
"""Keys of valid objects, at most `MOST`: thousands of objects are often a few different ones."""
MOST_ALIKE = 100
"""The maximum number of problems that one check reports for one object."""


def validate(root: Cursor, target: Target) -> tuple[Problem, ...]:
    """Return all problems of one object; none for kinds that are not described."""
    identity = object_id(root)
    found = described(identity.group, identity.version, identity.kind, target.release_of(identity.group))
    if found is None:
        return tuple(_problems(root, target, identity, found))
    alike = likeness(root.data, target)
    if alike in _right:
        return ()
    problems = tuple(_problems(root, target, identity, found))
    if not problems and alike is not None and len(_right) < MOST:
        _right.add(alike)
    return problems


def _problems(root: Cursor, target: Target, identity: ObjectId, found: Described | None) -> Iterator[Problem]:
    yield from version_problems(root, identity, target.release)
    failures: list[Failure] = []
    if found is not None:
        failures += _structure(root, found)
        failures += () if identity.group in NO_OBJECTS else metadata(root["metadata"])
    if found is not None or identity.group not in (KUEUE, CONFIG, OWN, "", "apps", "batch", "autoscaling"):
        for refusal in _refusals(identity.group, identity.kind):
            failures += refusal(root, target)
    for failure, more in first_of_each(_distinct(failures)):
        problem = _problem(root, identity, found, failure)
        yield replace(problem, message=problem.message + more) if more else problem
    if found is not None and identity.group not in NO_OBJECTS:
        yield from quantity_problems(root, identity, found)


@cache
def _refusals(group: str, kind: str) -> tuple[Refusal, ...]:
    named = _REFUSALS.get((group, kind), ())
    return tuple(getattr(import_module(f"qcheck.kinds.validation.{module}"), function) for module, function in named)


def _structure(root: Cursor, found: Described) -> list[Failure]:
    failures = found.check(root.data) or []
    for failure in failures:
        failure.steps.extend(reversed(root.route))
    return failures


def _distinct(failures: list[Failure]) -> list[Failure]:
    """Return one failure per place and text: the structure and a webhook may both reject a value.

    For a value of the wrong type, nothing else is reported, not even its missing fields.
    """
    mistyped = {f.route for f in failures if f.text.startswith(WRONG_TYPE)}
    seen: set[tuple[object, str]] = set()
    kept = []
    for failure in failures:
        route = failure.route
        key = (route, failure.text)
        is_typed = failure.text.startswith(WRONG_TYPE)
        if key not in seen and not any(route[:n] in mistyped for n in range(1, len(route) + (not is_typed))):
            seen.add(key)
            kept.append(failure)
    return kept


def first_of_each(failures: Iterable[Failure]) -> Iterator[tuple[Failure, str]]:
    """Yield the first failures of each check and a text to append; the last text states how many are omitted."""
    by_check: dict[object, list[Failure]] = {}
    for failure in failures:
        by_check.setdefault((failure.code, failure.check), []).append(failure)
    for alike in by_check.values():
        more = len(alike) - MOST_ALIKE
        for at, failure in enumerate(alike[:MOST_ALIKE], 1):
            yield (
                failure,
                f"; the object has {more:,} more problems of this kind" if at == MOST_ALIKE < len(alike) else "",
            )


def _problem(root: Cursor, identity: ObjectId, found: Described | None, failure: Failure) -> Problem:
    route = failure.route
    path = field_path(route[len(root.route) :])
    if identity.group == CONFIG:
        return _of_configuration(root, identity, failure)
    if failure.code is ProblemCode.UNKNOWN_FIELD:
        from qcheck.kinds.unknown_fields import unknown_field  # 0.2 ms

        return unknown_field(root, identity, found, failure)
    return Problem(
        code=failure.code,
        place=Place(root.document, route, "", failure.on_key),
        message=f"{path}: {failure.text}",
        help=_help(root, failure),
        object=identity,
        related=tuple(Place(root.document, r, "compare with this") for r in failure.related),
        data={"check": failure.check, "field": path},
        certain=failure.certain,
    )


def _help(root: Cursor, failure: Failure) -> str:
    """Return the fix as a sentence.

    A value that needs quotes is shown as written: YAML reads `y` and `1.10` differently.
    """
    fix = failure.fix
    if not fix and (failure.code is ProblemCode.API_REJECTED or failure.text.startswith(REQUIRED)):
        from qcheck.kinds.schema.advice import advice  # 0.6 ms, for rejected objects only

        fix = advice(field_path(failure.route[len(root.route) :]), failure.text)
    if fix.startswith(QUOTE):
        from qcheck.documents.edits import Unsafe, value_text  # 0.5 ms

        read = fix.removeprefix(QUOTE)
        try:
            written = value_text(root.document, failure.route)[2]
        except Unsafe:
            written = read
        fix = f'{QUOTE}"{written}"' if written.isprintable() and '"' not in written else fix
        if read != f'"{written}"' and '"' not in written:
            fix += f"; without quotes, YAML reads {written} as {read[1:-1]}"
    return as_sentence(fix)


def _of_configuration(root: Cursor, identity: ObjectId, failure: Failure) -> Problem:
    """Return the problem of a Configuration. An unknown key keeps the manager from starting, just like a bad value."""
    from qcheck.kinds.schema.advice import advice  # 0.6 ms, for rejected objects only

    path = field_path(failure.route[len(root.route) :])
    text, fix, check = f"{path}: {failure.text}", failure.fix or advice(path, failure.text), failure.check
    if failure.code is ProblemCode.UNKNOWN_FIELD:
        check = "CFG-KEY"
        text = f'unknown field "{path}": the manager of this release does not start with this field'
        fix = f"write {failure.near}" if failure.near else "remove it"
    return Problem(
        code=ProblemCode.CONFIGURATION_REJECTED,
        place=Place(root.document, failure.route, "", failure.on_key),
        message=text,
        help=as_sentence(fix),
        object=identity,
        related=tuple(Place(root.document, r, "compare with this") for r in failure.related),
        data={"check": check, "field": path},
    )
