"""The quick way to settings: plainly valid ones become `Settings` without pydantic, whose import costs more than a check.

It gives up on what it does not know, such as nulls and patterns that need a closer look, and on whatever is wrong:
`schema.py` then reads, or explains. Tests hold both to the same answers.
"""

from __future__ import annotations

from qcheck.cluster.nodes import DECLARED, Machine
from qcheck.cluster.policy import Policy, Reserve, Shape
from qcheck.cluster.quantity import QuantityError
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.documents.limits import Limits
from qcheck.settings import ClusterScope, Render, RuleChoice, Settings, readers

if TYPE_CHECKING:
    from qcheck.settings.readers import Fields, Reader, Table


def quick(data: object, path: str, root: str) -> Settings | None:
    """The settings in plain data read from the file `path`; None where only the schema can tell."""
    try:
        return _settings(readers.fields(data, SETTINGS), path, root)
    except (readers.Unusual, QuantityError):
        return None


def _settings(found: Fields, path: str, root: str) -> Settings:
    said = {
        **_only(found, "kueue", "complete", "profile", "shapes"),
        **_sub(found, "capacity"),
        **_sub(found, "queues"),
    }
    policy = replace(Policy(), **said)
    limits = _sub(found, "limits")
    return replace(
        Settings(path=path, root=root, policy=policy, scopes=_scopes(found, policy, root)),
        rules=replace(RuleChoice(), **_sub(found, "rules")),
        **_only(found, "baseline", "crds"),
        **_only(limits, "render_seconds"),
        limits=_limits(limits),
        instance_types={name: _machine(name, part, path) for name, part in _sub(found, "instance_types").items()},
    )


def _limits(found: Fields) -> Limits:
    bounds: dict[str, int] = {name: n for name, n in found.items() if name in Limits.__slots__ and isinstance(n, int)}
    return Limits(**bounds)


def _scopes(found: Fields, policy: Policy, root: str) -> tuple[ClusterScope, ...]:
    exclude, renders, clusters = readers.strings(found.get("exclude", ())), _renders(found), _sub(found, "clusters")
    if clusters and renders:
        raise readers.Unusual
    everything = ClusterScope(name="default", exclude=exclude, render=renders, policy=policy, root=root)
    return tuple(_scope(name, part, policy, exclude, root) for name, part in clusters.items()) or (everything,)


def _scope(name: str, part: object, policy: Policy, exclude: tuple[str, ...], root: str) -> ClusterScope:
    found = readers.fields(part, CLUSTER)
    include, apart, renders = (
        readers.strings(found.get("include", ())),
        readers.strings(found.get("exclude", ())),
        _renders(found),
    )
    if not include and not renders:
        raise readers.Unusual
    mine = replace(policy, **_only(found, "kueue", "complete"))
    return ClusterScope(name=name, include=include, exclude=(*exclude, *apart), render=renders, policy=mine, root=root)


def _renders(found: Fields) -> tuple[Render, ...]:
    return tuple(_render(part) for part in readers.items(found.get("render", [])))


def _render(part: object) -> Render:
    found = readers.fields(part, RENDER)
    tools = found.keys() & {"kustomize", "helm"}
    tool = "".join(tools)
    if len(tools) != 1 or (tool == "kustomize" and len(found) > 1):
        raise readers.Unusual
    path = found.pop(tool)
    return replace(Render(tool, readers.text(path) or "."), **found)


def _machine(name: str, part: object, path: str) -> Machine:
    found = readers.fields(part, INSTANCE_TYPE)
    allocatable = found.pop("allocatable", None)
    if not isinstance(allocatable, dict):
        raise readers.Unusual
    return replace(declared(name, allocatable, path), **_sub(found, "accelerator"), **_only(found, "labels"))


def declared(name: str, allocatable: dict[str, int], source: str) -> Machine:
    """A machine type of the settings: what it does not say of cores and memory is unknown, not zero."""
    unknown = frozenset({"cpu", "memory"} - set(allocatable))
    return Machine(name, allocatable, dict.fromkeys(allocatable, DECLARED), unknown, source=source)


def _only(found: Fields, *names: str) -> dict[str, object]:
    return {name: found[name] for name in names if name in found}


def _sub(found: Fields, name: str) -> Fields:
    part = found.get(name, {})
    assert isinstance(part, dict)
    return part


def _many(table: Table, make: type[Reserve] | type[Shape], **defaults: object) -> Reader:
    """A list of mappings, each of which becomes a value."""

    def read(value: object) -> tuple[object, ...]:
        found = [{**defaults, **readers.fields(v, table)} for v in readers.items(value)]
        if not all(_is_whole(make, f) for f in found):
            raise readers.Unusual
        return tuple(make(**f) for f in found)  # type: ignore[arg-type]

    return read


def _is_whole(make: type[Reserve] | type[Shape], found: Fields) -> bool:
    """Whether nothing is missing that has no default."""
    return set(make.__fields__) <= found.keys() | make.__defaults__.keys()


RESERVE: Table = {
    "pools": ("pools", readers.strings),
    "perNode": ("per_node", readers.amounts),
    "total": ("total", readers.amounts),
    "reason": ("reason", readers.text),
}
SHAPE: Table = {
    "name": ("name", readers.text),
    "requests": ("requests", readers.amounts),
    "flavors": ("flavors", readers.strings),
    "pods": ("pods", readers.number(1)),
    "level": ("level", readers.text),
}
CAPACITY: Table = {
    "autoscaled": ("autoscaled", readers.one_of("max", "min", "desired")),
    "reserves": ("reserves", _many(RESERVE, Reserve, pools=("*",), per_node={}, total={})),
    "virtualResources": ("virtual_resources", readers.strings),
}
RENDER: Table = {
    "kustomize": ("kustomize", readers.path),
    "helm": ("helm", readers.path),
    "values": ("values", readers.paths),
    "release": ("release", readers.text),
    "namespace": ("namespace", readers.text),
}
INSTANCE_TYPE: Table = {
    "allocatable": ("allocatable", readers.amounts),
    "accelerator": (
        "accelerator",
        readers.part({"model": ("model", readers.text), "nvlinkDomain": ("nvlink_domain", readers.number(1))}),
    ),
    "labels": ("labels", readers.texts),
}
LIMITS: Table = {
    "bytes": ("bytes", readers.number(1)),
    "depth": ("depth", readers.number(1, 500)),
    "aliases": ("aliases", readers.number(0)),
    "documents": ("documents", readers.number(1)),
    "renderSeconds": ("render_seconds", readers.number(1)),
}
RULES: Table = {
    "select": ("select", readers.strings),
    "ignore": ("ignore", readers.strings),
    "severity": ("severity", readers.severities),
    "params": ("params", readers.params),
}
CLUSTER: Table = {
    "include": ("include", readers.patterns),
    "exclude": ("exclude", readers.patterns),
    "render": ("render", readers.items),
    "kueue": ("kueue", readers.release),
    "complete": ("complete", readers.flag),
}
SETTINGS: Table = {
    "version": ("version", readers.one_of(1)),
    "kueue": ("kueue", readers.release),
    "complete": ("complete", readers.flag),
    "profile": ("profile", readers.one_of("reserved-and-shared")),
    "clusters": ("clusters", readers.mapping),
    "exclude": ("exclude", readers.patterns),
    "render": ("render", readers.items),
    "capacity": ("capacity", readers.part(CAPACITY)),
    "shapes": ("shapes", _many(SHAPE, Shape)),
    "queues": (
        "queues",
        readers.part({"reserved": ("reserved_queues", readers.strings), "shared": ("shared_queues", readers.strings)}),
    ),
    "rules": ("rules", readers.part(RULES)),
    "instanceTypes": ("instance_types", readers.mapping),
    "limits": ("limits", readers.part(LIMITS)),
    "baseline": ("baseline", readers.path),
    "crds": ("crds", readers.paths),
}
"""Key as written: name in the model and how it is read. What is not here takes the long way."""
