"""Reading of a scenario file: validated by pydantic, every error with its line."""

from __future__ import annotations

import os
import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from qcheck.answers.question import QuestionError
from qcheck.answers.scenario import MOST_WORKLOADS, Admitted, Scenario, ScenarioWorkload, pods, written_workload
from qcheck.cluster.place import Place
from qcheck.cluster.quantity import Quantity
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.cluster.workloads import PodSet, Workload
from qcheck.pipeline.question_file import Amount, FormatVersion, QuestionPart, at, read_question

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from qcheck.documents.document import Document

_DURATION = re.compile(r"(?:(\d{1,18})d)?(?:(\d{1,18})h)?(?:(\d{1,18})m)?(?:(\d{1,18})s)?")
_UNITS = (86_400, 3_600, 60, 1)


def _seconds(value: object) -> object:
    """Convert `1h30m`, or a number of seconds, to seconds."""
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value)
    if match is None or not value:
        raise ValueError("write a duration such as 90s, 25m or 1h30m")
    return sum(int(n or 0) * unit for n, unit in zip(match.groups(), _UNITS, strict=True))


MOST_SECONDS = 10**12
"""In seconds, about 30,000 years: more than any realistic time."""
WholeSeconds = Annotated[int, Field(ge=0, le=MOST_SECONDS)]
Seconds = Annotated[WholeSeconds, BeforeValidator(_seconds, json_schema_input_type=WholeSeconds | str)]
Moment = Annotated[int, Field(ge=-MOST_SECONDS, le=MOST_SECONDS)]
Flavors = dict[str, dict[str, str]]


class ScenarioPodSetPart(QuestionPart):
    """Equal pods: how many, and what each requests."""

    name: str = "main"
    count: int = Field(1, ge=0)
    requests: dict[str, Amount] = Field(default_factory=dict)


class AdmittedPart(QuestionPart):
    """Quota that the workload holds from the start, by pod set and resource."""

    at: Moment
    flavors: Flavors = Field(default_factory=dict, description="Not for queues of KAI.")


class RepeatPart(QuestionPart):
    """Equal workloads, each created `every` so many seconds after the one before."""

    count: int = Field(ge=1, le=MOST_WORKLOADS)
    every: Seconds


class ScenarioWorkloadPart(QuestionPart):
    """A workload: pod sets written here, or a manifest with one workload."""

    name: str = Field(min_length=1)
    cluster_queue: str | None = Field(None, alias="clusterQueue")
    queue: str | None = Field(None, pattern=r"^[^/]+/[^/]+$", description="NAMESPACE/LOCALQUEUE")
    priority_class: str | None = Field(None, alias="priorityClass")
    priority: int | None = None
    created: Moment | None = Field(None, description="Seconds; default: the scenario's start.")
    pod_sets: list[ScenarioPodSetPart] | None = Field(None, alias="podSets", min_length=1)
    manifest: str | None = Field(None, description="A file relative to the scenario; replaces podSets.")
    admitted: AdmittedPart | None = None
    duration: Seconds | None = None
    repeat: RepeatPart | None = None

    @model_validator(mode="after")
    def _is_whole(self) -> ScenarioWorkloadPart:
        if (self.pod_sets is None) == (self.manifest is None):
            raise ValueError("give either podSets or manifest")
        if self.cluster_queue is not None and self.queue is not None:
            raise ValueError("give either clusterQueue or queue")
        if self.pod_sets is not None and self.cluster_queue is None and self.queue is None:
            raise ValueError("clusterQueue or queue is missing")
        if self.priority is not None and self.priority_class is not None:
            raise ValueError("give either priority or priorityClass")
        return self


class ScenarioPart(QuestionPart):
    """Workloads for `qcheck simulate`, in seconds from an arbitrary zero."""

    editor_schema: str | None = Field(
        None, alias="$schema", description="The address of the schema of this file, for editors."
    )
    version: FormatVersion
    mode: Literal["classical", "fairSharing"] | None = None
    start: Moment = Field(0, description="Seconds; the first cycle runs one second later.")
    eviction_delay: Seconds = Field(
        0, alias="evictionDelay", description="How long a preempted workload holds its quota, in seconds or as 1h30m."
    )
    workloads: list[ScenarioWorkloadPart]

    @field_validator("workloads")
    @classmethod
    def _is_not_endless(cls, entries: list[ScenarioWorkloadPart]) -> list[ScenarioWorkloadPart]:
        total = sum(entry.repeat.count if entry.repeat else 1 for entry in entries)
        if total > MOST_WORKLOADS:
            raise ValueError(f"{total} workloads in total, more than {MOST_WORKLOADS}")
        return entries


class ScenarioFile:
    """A scenario as written, before its manifests are read."""

    def __init__(self, document: Document, part: ScenarioPart) -> None:
        self._document = document
        self._part = part
        self._folder = os.path.dirname(document.path)

    @property
    def path(self) -> str:
        return self._document.path

    @property
    def manifests(self) -> tuple[str, ...]:
        """The manifest files of its workloads, as absolute paths."""
        named = (os.path.abspath(os.path.join(self._folder, w.manifest)) for w in self._part.workloads if w.manifest)
        return tuple(dict.fromkeys(named))

    def scenario(self, found: Iterable[Workload]) -> Scenario:
        """Return the scenario with the workloads found in its manifests. Raises `QuestionError`."""
        of_file: dict[str, list[Workload]] = {}
        for each in found:
            of_file.setdefault(os.path.abspath(each.place.origin.path), []).append(each)
        faults: list[str] = []
        entries: list[ScenarioWorkload] = []
        for index, part in enumerate(self._part.workloads):
            place = Place(self._document, ("workloads", index))
            workload: Workload | None = (
                _inline(part, place) if part.manifest is None else self._of(part, place, of_file, faults)
            )
            if workload is not None:
                entries += _repeated(part, _entry(part, place, workload, self._part.start))
        faults += _doubled(entries)
        if faults:
            raise QuestionError(faults)
        return Scenario(
            place=Place(self._document),
            is_fair=None if self._part.mode is None else self._part.mode == "fairSharing",
            start=self._part.start,
            eviction_delay=self._part.eviction_delay,
            workloads=tuple(entries),
        )

    def _of(
        self, part: ScenarioWorkloadPart, place: Place, of_file: Mapping[str, list[Workload]], faults: list[str]
    ) -> Workload | None:
        if part.manifest is None:
            return _inline(part, place)
        path = os.path.normpath(os.path.join(self._folder, part.manifest))
        found = of_file.get(os.path.abspath(path), [])
        if len(found) == 1 and found[0].not_read is None:
            return found[0] if part.queue is None else _in_namespace(found[0], part.queue)
        if not found:
            why = "has no workload" if os.path.exists(path) else "does not exist"
        elif len(found) > 1:
            why = f"has {len(found)} workloads; give each its own file"
        else:
            why = f"cannot be used: {found[0].not_read}"
        faults.append(at(self._document, (*place.route, "manifest"), f"{part.name}: {path} {why}"))
        return None


def read_scenario(path: str) -> ScenarioFile:
    """Return the scenario in a file. Raises `QuestionError`."""
    document, part = read_question(path, ScenarioPart)
    return ScenarioFile(document, part)


def _entry(part: ScenarioWorkloadPart, place: Place, workload: Workload, start: int) -> ScenarioWorkload:
    given = part.admitted
    return ScenarioWorkload(
        name=part.name,
        place=place,
        workload=workload,
        cluster_queue=part.cluster_queue,
        local_queue=None if part.queue is None else (part.queue.split("/")[0], part.queue.split("/")[1]),
        priority=part.priority,
        priority_class=part.priority_class,
        created=start if part.created is None else part.created,
        admitted=Admitted(given.at, given.flavors, place.at("admitted")) if given else None,
        runs_for=part.duration,
    )


def _repeated(part: ScenarioWorkloadPart, entry: ScenarioWorkload) -> list[ScenarioWorkload]:
    if part.repeat is None:
        return [entry]
    digits, every = len(str(part.repeat.count)), part.repeat.every
    return [
        replace(entry, name=f"{entry.name}-{number:0{digits}}", created=entry.created + (number - 1) * every)
        for number in range(1, part.repeat.count + 1)
    ]


def _inline(part: ScenarioWorkloadPart, place: Place) -> Workload:
    """Return the pod sets of an entry as a workload."""
    namespace = part.queue.split("/")[0] if part.queue else None
    sets = tuple(_pod_set(p, place.at("podSets", i)) for i, p in enumerate(part.pod_sets or ()))
    return written_workload(part.name, namespace, place, sets)


def _in_namespace(workload: Workload, queue: str) -> Workload:
    """Return a workload in the namespace of the local queue that its entry names."""
    return replace(workload, id=replace(workload.id, namespace=queue.partition("/")[0]))


def _pod_set(part: ScenarioPodSetPart, place: Place) -> PodSet:
    return pods(part.name, part.count, {r: q for r, q in part.requests.items() if isinstance(q, Quantity)}, place)


def _doubled(entries: list[ScenarioWorkload]) -> list[str]:
    first: dict[str, ScenarioWorkload] = {}
    faults = []
    for entry in entries:
        known = first.setdefault(entry.name, entry)
        if known is not entry:
            line = known.place.origin.span(known.place.route)[0]
            at, *_ = entry.place.origin.span(entry.place.route)
            faults.append(
                f"{entry.place.origin.path}:{at}: a second workload {entry.name} (the first is in line {line})"
            )
    return faults


def json_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of a scenario."""
    schema = ScenarioPart.model_json_schema(by_alias=True)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "qcheck scenario"}
