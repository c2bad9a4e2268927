"""Conversion of a pool in any format to a `NodePool`: machine types, provider labels, doubts; and the context for readers."""

from __future__ import annotations

from qcheck.cluster.nodes import Certainty, LabelOrigin, Machine, NodePool
from qcheck.cluster.place import show_route
from qcheck.cluster.units import IN_PROSE, IN_TABLES, scale_of
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.nodepools.automatic_labels import UNSEEN, added
from qcheck.nodepools.figures import Count, Figures, first_doubt

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from qcheck.cluster.labels import Labels, Taint
    from qcheck.cluster.nodes import Machine
    from qcheck.cluster.place import Place
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.manifest_text import BrokenText
    from qcheck.nodepools.provider_labels import Provided

ZONE = "topology.kubernetes.io/zone"
ZONE_ALIASES = (ZONE, "topology.gke.io/zone", "failure-domain.beta.kubernetes.io/zone")
NOTHING_ELSE = Figures()


class PoolDraft(Value):
    """A pool as defined.

    `machines` are the alternatives, already looked up; if empty, `machine_doubt` says why. `labels` and `taints` are
    declared; `open_labels` have unknown values. `other` read everything except count and machines; `hint` says how to
    resolve a doubt.
    """

    name: str
    format: str
    place: Place
    count: Count
    machines: tuple[Machine, ...]
    type_place: Place
    machine_doubt: str | None = None
    labels: Labels = {}
    taints: tuple[Taint, ...] = ()
    open_labels: tuple[str, ...] = ()
    provided: tuple[Provided, ...] = ()
    zones: tuple[str, ...] = ()
    spot: bool = False
    autoscaler: str | None = None
    group_label: tuple[str, str] | None = None
    other: Figures = NOTHING_ELSE
    hint: str = ""


def finished(draft: PoolDraft) -> NodePool:
    """Return the pool with automatic labels and the source of each figure."""
    machines, origins = described(draft.machines, draft.labels)
    labels: Labels = {}
    taints = list(draft.taints)
    for each in draft.provided:
        labels |= each.labels
        origins |= dict.fromkeys(each.labels, each.by)
        taints += [t for t in each.taints if not any(t.key == have.key and t.effect == have.effect for have in taints)]
    labels |= draft.labels
    return NodePool(
        name=draft.name,
        format=draft.format,
        place=draft.place,
        count_place=draft.count.place,
        minimum=draft.count.minimum,
        desired=draft.count.desired,
        maximum=draft.count.maximum,
        machines=machines,
        labels=labels,
        taints=tuple(taints),
        added={k: o for k, o in origins.items() if k not in draft.labels},
        varying=_varying(draft, labels),
        zones=draft.zones,
        spot=draft.spot,
        autoscaler=draft.autoscaler if draft.count.minimum != draft.count.maximum else None,
        count_unknown=draft.count.doubt is not None,
        labels_unknown="labels" in draft.other.open,
        taints_unknown="taints" in draft.other.open,
        why_unknown=_why(draft),
        unknown_place=_where(draft),
        figures=figures(draft.count, draft.machines, draft.type_place),
        group_label=draft.group_label,
    )


def described(
    machines: tuple[Machine, ...], declared: Mapping[str, str]
) -> tuple[tuple[Machine, ...], dict[str, LabelOrigin]]:
    """Return machines with their automatic labels, and the labels' origins. Declared labels take precedence."""
    found = []
    origins: dict[str, LabelOrigin] = {}
    for each in machines:
        extra, by = added(each)
        shown = {k: v for k, v in {**extra, **each.labels}.items() if k not in declared}
        found.append(replace(each, labels=shown))
        origins |= {k: o for k, o in by.items() if k not in declared}
    return tuple(found), origins


def _varying(draft: PoolDraft, labels: Labels) -> dict[str, tuple[str, ...]]:
    varying: dict[str, tuple[str, ...]] = {**UNSEEN, **dict.fromkeys(draft.open_labels, ())}
    varying |= dict.fromkeys(ZONE_ALIASES, draft.zones)
    return {k: v for k, v in varying.items() if k not in labels}


def _why(draft: PoolDraft) -> str | None:
    doubt = first_doubt(draft.count.doubt, draft.other.doubt)
    why = draft.machine_doubt or (str(doubt) if doubt else None)
    if draft.machine_doubt is None and doubt is not None and draft.hint:
        return f"{why}; {draft.hint}"
    return why


def _where(draft: PoolDraft) -> Place | None:
    if draft.machine_doubt:
        return draft.type_place
    doubt = first_doubt(draft.count.doubt, draft.other.doubt)
    return doubt.place if doubt else None


def figures(count: Count, machines: tuple[Machine, ...], type_place: Place) -> tuple[str, ...]:
    """Return the source of each figure of a pool, one sentence per source."""
    sources = [f"{_nodes(count)}: {show_route(count.place.route)}"] if count.doubt is None else []
    for each in machines:
        alike: dict[str, list[str]] = {}
        for resource, number in each.allocatable.items():
            how = each.sure.get(resource, Certainty.DECLARED)
            source = each.source if how != Certainty.DECLARED else show_route(type_place.route)
            alike.setdefault(f"{how}, {source}", []).append(_shown(resource, number, how))
        of = f" {each.instance_type}" if each.instance_type else ""
        sources += [f"{', '.join(amounts)} per{of} node: {source}" for source, amounts in alike.items()]
    return tuple(sources)


def _shown(resource: str, number: int, how: str) -> str:
    """Format a declared amount exactly, an estimate with two decimals."""
    return scale_of(resource, (number,), IN_PROSE if how == Certainty.DECLARED else IN_TABLES).name(number)


def _nodes(count: Count) -> str:
    least = f"{count.minimum} node{'s' * (count.minimum != 1)}"
    if count.maximum == count.minimum:
        return least
    return f"{least} or more" if count.maximum is None else f"{count.minimum} to {count.maximum} nodes"


class PoolMachineTypes(Value):
    """The machine types of a pool, looked up."""

    machines: tuple[Machine, ...] = ()
    doubt: str | None = None

    @property
    def first(self) -> Machine | None:
        return self.machines[0] if self.machines else None


def look_up(names: tuple[str, ...], provider: str | None, own: Mapping[str, Machine]) -> PoolMachineTypes:
    """Return the machines of some types; a doubt if any type is unknown, because nodes may be of any of them."""
    from qcheck.nodepools.machine_capacity import machine  # 0.6 ms

    found = []
    for name in names:
        known = machine(name, provider, own)
        if known is None:
            return PoolMachineTypes(
                (), f"the machine type {name} is in no catalogue; name it under `instanceTypes` in the settings"
            )
        found.append(known)
    return PoolMachineTypes(tuple(found)) if found else PoolMachineTypes((), "no machine type is given")


class PoolContext:
    """The objects of one cluster that concern nodes, by API group and kind, in the order of the files.

    `applied` are other objects that Terraform applies, each with whether it certainly does; `broken` are faults of the
    text of such objects.
    """

    def __init__(self, own: Mapping[str, Machine]) -> None:
        self.own = own
        self.applied: list[tuple[Cursor, bool]] = []
        self.broken: list[BrokenText] = []
        self._objects: dict[tuple[str, str], list[Cursor]] = {}

    def add(self, group: str, kind: str, root: Cursor) -> None:
        self._objects.setdefault((group, kind), []).append(root)

    def all_of(self, group: str, kind: str) -> list[Cursor]:
        return self._objects.get((group, kind), [])

    def of_kind(self, kind: str) -> Iterator[Cursor]:
        """Yield the objects of a kind in any group."""
        for (_, each), roots in self._objects.items():
            if each == kind:
                yield from roots

    def find(self, kind: str, name: str | None) -> Cursor | None:
        """Return the first object of a kind and name."""
        return next((r for r in self.of_kind(kind) if r["metadata"]["name"].text() == name), None)
