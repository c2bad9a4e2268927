"""Checks of Volcano's webhooks and of its CRDs' CEL rules for one object: VQ, VP, VJ, VH and VF. Source: Volcano 1.15.

Refusals that depend on other objects are found by the code that knows those.
"""

from __future__ import annotations

from qcheck.cluster.problems import ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.go_patterns import fault
from qcheck.kinds.schema.failure import show
from qcheck.kinds.validation.pods import pod_template
from qcheck.kinds.validation.queues import amount
from qcheck.kinds.validation.resources import is_extended
from qcheck.kinds.validation.target import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.documents.cursor import Cursor
    from qcheck.kinds.schema.failure import Failure
    from qcheck.kinds.validation.target import Target

PATH = "volcano.sh/hierarchy"
WEIGHTS = "volcano.sh/hierarchy-weights"
ACTIONS = frozenset(
    {
        "AbortJob", "RestartJob", "RestartTask", "RestartPod", "RestartPartition", "TerminateJob", "CompleteJob",
        "ResumeJob",
    }
)  # fmt: skip
EVENTS = frozenset(
    {"*", "JobUpdated", "PodFailed", "PodEvicted", "PodPending", "TaskCompleted", "TaskFailed", "Unknown"}
)
PLUGINS = frozenset({"ssh", "env", "svc", "tensorflow", "mpi", "pytorch", "hcclrank", "ray"})


def queue(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001  (every check has this shape)
    spec = root["spec"]
    for amounts in (spec["capability"], spec["deserved"], spec["guarantee"]["resource"]):
        for name, value in amounts.mapping():
            yield from _quantity(name, value)
    state = root["status"]["state"]
    if state.text() not in (None, "", "Open", "Closed"):
        yield refuse(state, "VQ-W05", f'Invalid value: {show(state.data)}: queue state must be in ["Open", "Closed"]')
    yield from _annotations(root["metadata"]["annotations"])


def _quantity(name: str, value: Cursor) -> Iterator[Failure]:
    quantity = amount(value)
    if quantity is not None and quantity.nanos < 0:
        yield refuse(value, "VQ-W01", f"Invalid value: {show(quantity.text)}: must be greater than or equal to 0")
    elif quantity is not None and (is_extended(name) or name == "pods") and not quantity.is_whole:
        yield refuse(value, "VQ-W01", f"Invalid value: {show(quantity.text)}: must be an integer")


def _annotations(at: Cursor) -> Iterator[Failure]:
    """Check the path and the weights of the older hierarchy, which the plugin drf reads."""
    path, weights = at.text_at(PATH), at.text_at(WEIGHTS)
    if not path and not weights:
        return
    parts = weights.split("/")
    if len(path.split("/")) != len(parts):
        text = f"Invalid value: {show(path)}: must have the same length as {WEIGHTS}, which has {len(parts)} parts"
        yield refuse(at[PATH], "VQ-W06", text)
    for part in parts:
        if not is_weight(part):
            text = f"Invalid value: {show(weights)}: {show(part)} is not a number larger than 0"
            yield refuse(at[WEIGHTS], "VQ-W06", text)
            return


def is_weight(text: str) -> bool:
    """Return whether Go parses a text as a number that is not 0 or less: one above 0, or NaN.

    Unlike Python, Go accepts hexadecimal numbers and rejects spaces, digits of other scripts and, in decimal numbers,
    underscores.
    """
    if text != text.strip() or "_" in text or not text.isascii():
        return False
    try:
        number = float.fromhex(text) if "x" in text.lower() and "p" in text.lower() else float(text)
    except (OverflowError, ValueError):
        return False
    return not number <= 0


def pod_group(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    spec = root["spec"]
    for at in (spec, *spec.items_at("subGroupPolicy")):
        yield from _two_tiers(at["networkTopology"], "VP-W01")


def _two_tiers(at: Cursor, check: str) -> Iterator[Failure]:
    if at["highestTierAllowed"].exists and at.text_at("highestTierName"):
        text = "Invalid value: highestTierAllowed and highestTierName are mutually exclusive"
        yield refuse(at["highestTierName"], check, text, on_key=True, related=(at["highestTierAllowed"].route,))


def job(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    yield from _job(root["spec"])


def cron_job(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    yield from _job(root["spec"]["jobTemplate"]["spec"])


def _job(spec: Cursor) -> Iterator[Failure]:
    tasks = spec.items_at("tasks")
    if not tasks and spec.exists:
        yield refuse(spec["tasks"], "VJ-W01", "Required value: a job has at least one task")
    yield from _tasks(tasks)
    total = sum(t["replicas"].count() or 0 for t in tasks)
    minimum = spec["minAvailable"]
    if tasks and (minimum.count() or 0) > total:
        text = f"Invalid value: {minimum.data}: must not exceed the {total} replicas of all tasks"
        yield refuse(minimum, "VJ-W04", text)
    yield from _policies(spec["policies"])
    for name, at in spec["plugins"].mapping():
        if name not in PLUGINS:
            text = f"Invalid value: {show(name)}: there is no job plugin with this name"
            yield refuse(at, "VJ-W05", text, f"write one of {', '.join(sorted(PLUGINS))}", on_key=True)
    yield from _volumes(spec.items_at("volumes"))
    yield from _two_tiers(spec["networkTopology"], "VJ-W08")
    yield from _dependencies(tasks)


def _tasks(tasks: list[Cursor]) -> Iterator[Failure]:
    seen: dict[str, Cursor] = {}
    for task in tasks:
        name = task.text_at("name")
        first = seen.setdefault(name, task)
        if name and first is not task:
            text = f"Duplicate value: {show(name)}: the names of tasks must be unique"
            yield refuse(task["name"], "VJ-W02", text, related=(first["name"].route,))
        minimum, replicas = task["minAvailable"].count(), task["replicas"].count() or 0
        if minimum is not None and minimum > replicas:
            text = f"Invalid value: {minimum}: must not exceed replicas, which is {replicas}"
            yield refuse(task["minAvailable"], "VJ-W03", text)
        yield from _partitions(task["partitionPolicy"], replicas, minimum)
        yield from _policies(task["policies"])
        yield from pod_template(task["template"])


def _partitions(at: Cursor, replicas: int, minimum: int | None) -> Iterator[Failure]:
    total, size, fewest = (at[f].count() or 0 for f in ("totalPartitions", "partitionSize", "minPartitions"))
    if at.exists and total and size and total * size != replicas:
        text = f"Invalid value: {total} partitions x {size} pods = {total * size}: must be the replicas, {replicas}"
        yield refuse(at, "VJ-W09", text, on_key=True)
    elif fewest and minimum is not None and fewest * size != minimum:
        text = f"Invalid value: {fewest} partitions x {size} pods = {fewest * size}: must be minAvailable, {minimum}"
        yield refuse(at["minPartitions"], "VJ-W09", text)
    yield from _two_tiers(at["networkTopology"], "VJ-W08")


def _policies(at: Cursor) -> Iterator[Failure]:
    """Check that no policy has both events and an exit code, and that each occurs in one policy only."""
    seen: dict[object, Cursor] = {}
    for policy in at.items():
        events = [e for e in (policy["event"], *policy.items_at("events")) if e.text()]
        code = policy["exitCode"]
        if events and code.exists:
            yield refuse(code, "VJ-W06", "Invalid value: an event and an exitCode are mutually exclusive", on_key=True)
            continue
        if not events and not code.exists:
            yield refuse(policy, "VJ-W06", "Required value: a policy needs an event or an exitCode")
            continue
        if code.data == 0:
            yield refuse(code, "VJ-W06", "Invalid value: 0: is not the exit code of a failure")
        if events and policy["action"].text() not in ACTIONS:
            text = f"Invalid value: {show(policy['action'].data)}: invalid policy action"
            yield refuse(policy["action"], "VJ-W06", text, f"write one of {', '.join(sorted(ACTIONS))}")
        yield from _triggers(events or [code], seen)
    if "*" in seen and len([s for s in seen if isinstance(s, str)]) > 1:
        yield refuse(seen["*"], "VJ-W06", 'Invalid value: "*": stands for every event, so no other may be named')


def _triggers(triggers: list[Cursor], seen: dict[object, Cursor]) -> Iterator[Failure]:
    own: set[object] = set()
    for trigger in triggers:
        if not isinstance(trigger.data, (str, int)) or trigger.data in own:
            continue
        own.add(trigger.data)
        first = seen.setdefault(trigger.data, trigger)
        if isinstance(trigger.data, str) and trigger.data not in EVENTS:
            yield refuse(trigger, "VJ-W06", f"Invalid value: {show(trigger.data)}: invalid policy event")
        elif first is not trigger:
            text = f"Duplicate value: {show(trigger.data)}: another policy already has it"
            yield refuse(trigger, "VJ-W06", text, related=(first.route,))


def _volumes(volumes: list[Cursor]) -> Iterator[Failure]:
    seen: dict[str, Cursor] = {}
    for volume in volumes:
        path, name, claim = volume["mountPath"], volume.text_at("volumeClaimName"), volume["volumeClaim"]
        first = seen.setdefault(path.text() or "", volume)
        if path.text() and first is not volume:
            yield refuse(path, "VJ-W07", f"Duplicate value: {show(path.data)}", related=(first["mountPath"].route,))
        if bool(name) == claim.exists:
            yield refuse(volume, "VJ-W07", "Invalid value: name either volumeClaim or volumeClaimName")


def _dependencies(tasks: list[Cursor]) -> Iterator[Failure]:
    waits = {t.text_at("name"): [n.text() or "" for n in t["dependsOn"].items_at("name")] for t in tasks}
    places = {t.text_at("name"): t["dependsOn"] for t in tasks}
    for name in stuck(waits)[:1]:
        text = (
            f"Invalid value: task {name} waits for tasks that never finish: they wait for each other, or do not exist"
        )
        yield refuse(places[name], "VJ-W10", text, on_key=True)


def stuck(waits: Mapping[str, list[str]]) -> list[str]:
    """Return the steps that never begin, in order: they wait in a cycle, or for a step that does not exist."""
    done: set[str] = set()
    while ready := [s for s, before in waits.items() if s not in done and done.issuperset(before)]:
        done.update(ready)
    return [s for s in waits if s not in done]


def hyper_node(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    members = root["spec"]["members"]
    if not members.items():
        yield _invalid(refuse(members, "VH-W01", "Required value: a hyper node has at least one member"))
    for member in members.items():
        selector = member["selector"]
        ways = [w for w in ("exactMatch", "regexMatch", "labelMatch") if selector[w].exists]
        if selector.exists and len(ways) != 1:
            text = f"Invalid value: exactly one of exactMatch, regexMatch and labelMatch selects, not {len(ways)}"
            yield _invalid(refuse(selector, "VH-C01", text, on_key=True))
        pattern = selector["regexMatch"]["pattern"]
        if why := fault(pattern.text() or ""):
            yield _invalid(refuse(pattern, "VH-W02", f"Invalid value: {show(pattern.data)}: {why}"))


def _invalid(failure: Failure) -> Failure:
    """Mark a failure as one that QC962 reports."""
    failure.code = ProblemCode.VOLCANO_HYPERNODE_INVALID
    return failure


def job_flow(root: Cursor, target: Target) -> Iterator[Failure]:  # noqa: ARG001
    flows = {f.text_at("name"): f for f in root["spec"].items_at("flows")}
    waits = {name: [t.text() or "" for t in f["dependsOn"].items_at("targets")] for name, f in flows.items()}
    for name in stuck(waits)[:1]:
        text = (
            f"Invalid value: {show(name)} waits for flows that never finish: they wait for each other, or do not exist"
        )
        yield refuse(flows[name]["dependsOn"], "VF-W01", text, on_key=True)
