"""The quick way to settings: plainly valid ones become `Settings` without pydantic, whose import costs more than a check.

It knows the keys that most settings consist of and gives up on anything else, also on whatever is wrong: `schema.py` then
reads, or explains. Tests hold both to the same answers.
"""

from __future__ import annotations

import re

from qcheck.model.policy import Policy, Release, Reserve, Shape
from qcheck.model.quantity import QuantityError, amount, parse_quantity
from qcheck.model.value import TYPE_CHECKING, replace
from qcheck.settings import ClusterScope, Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    Fields = dict[str, object]
    Reader = Callable[[object], object]

RELEASE = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,4})(?:\.[0-9]+)?")
PLAIN_PATTERN = r"[^\\[!#\s][^\\[!]*"
"""What is a pattern for certain; of others only pathspec can tell."""


class Unusual(Exception):
    """Something that the quick way does not know."""


def quick(data: object, path: str, root: str) -> Settings | None:
    """The settings in plain data read from the file `path`; None where only the schema can tell."""
    try:
        return _settings(_fields(data, SETTINGS), path, root)
    except (Unusual, QuantityError):
        return None


def _settings(found: Fields, path: str, root: str) -> Settings:
    said = {
        **_only(found, "kueue", "complete", "profile", "shapes"),
        **_sub(found, "capacity"),
        **_sub(found, "queues"),
    }
    policy = replace(Policy(), **said)
    exclude = _strings(found.get("exclude", ()))
    clusters = _sub(found, "clusters")
    scopes = tuple(_scope(name, part, policy, exclude, root) for name, part in clusters.items())
    everything = ClusterScope("default", ("**",), exclude, (), policy, root)
    plain = Settings(path=path, root=root, policy=policy, scopes=scopes or (everything,))
    return replace(plain, **_sub(found, "rules"), **_only(found, "baseline"))


def _scope(name: str, part: object, policy: Policy, exclude: tuple[str, ...], root: str) -> ClusterScope:
    found = _fields(part, CLUSTER)
    if not found.get("include"):
        raise Unusual
    mine = replace(policy, **_only(found, "kueue", "complete"))
    include, apart = _strings(found["include"]), _strings(found.get("exclude", ()))
    return ClusterScope(name, include, (*exclude, *apart), (), mine, root)


def _only(found: Fields, *names: str) -> dict[str, object]:
    return {name: found[name] for name in names if name in found}


def _sub(found: Fields, name: str) -> Fields:
    part = found.get(name, {})
    assert isinstance(part, dict)
    return part


def _fields(data: object, readers: dict[str, tuple[str, Reader]]) -> Fields:
    """Each key of a mapping under the name it has in the model. Raises `Unusual`."""
    if not isinstance(data, dict) or not data.keys() <= readers.keys():
        raise Unusual
    return {readers[key][0]: readers[key][1](value) for key, value in data.items()}


def _part(readers: dict[str, tuple[str, Reader]]) -> Reader:
    return lambda value: _fields(value, readers)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise Unusual
    return value


def _strings(value: object) -> tuple[str, ...]:
    if not isinstance(value, (list, tuple)):
        raise Unusual
    return tuple(_text(v) for v in value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Unusual
    return value


def _one_of(*allowed: str | int) -> Reader:
    def read(value: object) -> object:
        if type(value) not in (str, int) or value not in allowed:
            raise Unusual
        return value

    return read


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise Unusual
    return value


def _release(value: object) -> Release:
    match = RELEASE.fullmatch(_text(value))
    if match is None:
        raise Unusual
    return Release(int(match[1]), int(match[2]))


def _path(value: object) -> str:
    if leaves_root(_text(value)):
        raise Unusual
    return _text(value)


def leaves_root(path: str) -> bool:
    """Whether a path of the settings leads out of their folder."""
    parts = path.replace("\\", "/").split("/")
    return path.startswith(("/", "~")) or ":" in parts[0] or ".." in parts


def _patterns(value: object) -> tuple[str, ...]:
    if not all(re.fullmatch(PLAIN_PATTERN, _path(v)) for v in _strings(value)):
        raise Unusual
    return _strings(value)


def _amounts(value: object) -> dict[str, int]:
    """Quantities by resource, in base units. Raises `Unusual` or `QuantityError`."""
    written = _mapping(value)
    if not all(isinstance(v, (str, int)) for v in written.values()):
        raise Unusual
    return {resource: amount(resource, parse_quantity(v)) for resource, v in written.items()}


def _many(readers: dict[str, tuple[str, Reader]], make: type[Reserve] | type[Shape], **defaults: object) -> Reader:
    """A list of mappings, each of which becomes a value."""

    def read(value: object) -> tuple[object, ...]:
        if not isinstance(value, list):
            raise Unusual
        found = [{**defaults, **_fields(v, readers)} for v in value]
        if not all(_is_whole(make, f) for f in found):
            raise Unusual
        return tuple(make(**f) for f in found)  # type: ignore[arg-type]

    return read


def _is_whole(make: type[Reserve] | type[Shape], found: Fields) -> bool:
    """Whether nothing is missing that has no default."""
    return set(make.__fields__) <= found.keys() | make.__defaults__.keys()


def _mapping(value: object) -> Fields:
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise Unusual
    return value


def _severities(value: object) -> dict[str, object]:
    return {name: _one_of("error", "warning", "note")(v) for name, v in _mapping(value).items()}


RESERVE: dict[str, tuple[str, Reader]] = {
    "pools": ("pools", _strings),
    "perNode": ("per_node", _amounts),
    "total": ("total", _amounts),
    "reason": ("reason", _text),
}
SHAPE: dict[str, tuple[str, Reader]] = {
    "name": ("name", _text),
    "requests": ("requests", _amounts),
    "flavors": ("flavors", _strings),
    "pods": ("pods", _count),
    "level": ("level", _text),
}
CAPACITY: dict[str, tuple[str, Reader]] = {
    "autoscaled": ("autoscaled", _one_of("max", "min", "desired")),
    "reserves": ("reserves", _many(RESERVE, Reserve, pools=("*",), per_node={}, total={})),
    "virtualResources": ("virtual_resources", _strings),
}
CLUSTER: dict[str, tuple[str, Reader]] = {
    "include": ("include", _patterns),
    "exclude": ("exclude", _patterns),
    "kueue": ("kueue", _release),
    "complete": ("complete", _flag),
}
SETTINGS: dict[str, tuple[str, Reader]] = {
    "version": ("version", _one_of(1)),
    "kueue": ("kueue", _release),
    "complete": ("complete", _flag),
    "profile": ("profile", _one_of("reserved-and-shared")),
    "clusters": ("clusters", _mapping),
    "exclude": ("exclude", _patterns),
    "capacity": ("capacity", _part(CAPACITY)),
    "shapes": ("shapes", _many(SHAPE, Shape)),
    "queues": ("queues", _part({"reserved": ("reserved_queues", _strings), "shared": ("shared_queues", _strings)})),
    "rules": (
        "rules",
        _part({"select": ("select", _strings), "ignore": ("ignore", _strings), "severity": ("severity", _severities)}),
    ),
    "baseline": ("baseline", _path),
}
"""Key as written: name in the model and how it is read. What is not here takes the long way."""
