"""Frozen records: what the model relies on."""

from __future__ import annotations

import ast
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

import pytest

from qcheck.cluster import place
from qcheck.cluster.place import Place
from qcheck.cluster.value import WRITTEN_AFTER, Value, replace

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECT = Path(__file__).parent.parent


class Point(Value):
    x: int
    y: int = 0


class Named(Point):
    name: str = "origin"


class Lazy(Value, cached=True):
    x: int

    @cached_property
    def double(self) -> int:
        return self.x * 2


def test_fields_defaults_and_inheritance() -> None:
    assert (Named(1).x, Named(1).y, Named(1).name) == (1, 0, "origin")
    assert Named(1, name="a") == Named(1, 0, "a")
    assert repr(Point(1, y=2)) == "Point(x=1, y=2)"
    assert Named(1) != Point(1)
    assert hash(Point(1)) == hash(Point(1, 0))
    assert replace(Named(1), y=5) == Named(1, 5)


def test_wrong_fields_are_refused() -> None:
    with pytest.raises(TypeError):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, 2, 3)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, z=3)  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Point(1, x=3)  # type: ignore[misc]


def test_frozen() -> None:
    with pytest.raises(AttributeError):
        Point(1).x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del Point(1).x


def test_cached_properties() -> None:
    lazy = Lazy(4)
    assert lazy.double == 8
    assert "double" in lazy.__dict__


def test_nothing_changes_when_a_class_gets_methods_of_its_own() -> None:
    class Often(Value):
        x: int
        y: int = 0

    class Oftener(Often):
        z: int = 1

    class Odd(Value):
        x: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Odd)

        def __hash__(self) -> int:
            return 0

    early = [Often(1), Oftener(1)]
    hashes = [hash(one) for one in early]
    for at in range(WRITTEN_AFTER):
        Often(at), Oftener(at), Odd(at)
    assert early == [Often(1, 0), Oftener(1, 0, 1)]
    assert [hash(one) for one in (Often(1), Oftener(1))] == hashes
    assert Often(1) != Oftener(1)
    assert Oftener(1, z=2) != Oftener(1)
    assert Odd(1) == Odd(2)
    assert replace(Oftener(1, 2, 3), y=5) == Oftener(1, 5, 3)
    with pytest.raises(TypeError, match="'w'"):
        replace(Often(1), w=1)

    class Later(Often):
        z: int = 2

    assert (Later(1).y, Later(1).z) == (0, 2)
    with pytest.raises(TypeError):
        Often()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Often(1, z=1)  # type: ignore[call-arg]


class Unnamed(NamedTuple):
    """A class of ours that is built from more than four arguments that only their order distinguishes."""

    place: str
    built: str


def built_class(module: ModuleType, call: ast.Call, inside: type | None) -> type | None:
    """The class that `call` makes an instance of, if it is one of ours. `inside` is the class around the call."""
    steps: list[str] = []
    made = call.func
    if ast.unparse(made) == "super().__init__" and inside is not None:
        return next((c for c in inside.__mro__[1:] if c.__module__.startswith("qcheck.")), None)
    while isinstance(made, ast.Attribute):
        steps.insert(0, made.attr)
        made = made.value
    if not isinstance(made, ast.Name):
        return None
    found = inside if made.id == "cls" else getattr(module, made.id, None)
    for step in steps:
        found = getattr(found, step, None)
    return found if isinstance(found, type) and found.__module__.startswith("qcheck.") else None


def unnamed(source: str, module: ModuleType, name: str) -> Iterator[Unnamed]:
    """A starred argument counts as two: `*metadata(root)` stands for the labels and annotations of every object."""
    tree = ast.parse(source)
    around = {
        id(node): getattr(module, each.name, None)
        for each in ast.walk(tree)
        if isinstance(each, ast.ClassDef)
        for node in ast.walk(each)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and sum(1 + isinstance(a, ast.Starred) for a in node.args) > 4:
            built = built_class(module, node, around.get(id(node)))
            if built is not None:
                yield Unnamed(f"{name}:{node.lineno}", built.__name__)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("Place(a, b, c, d, e)", ["Place"]),
        ("place.Place(a, b, c, *d)", ["Place"]),
        ("Place(a, b, c, d, e=e)", []),
        ("list(a, b, c, d, e)", []),
        ("class Nearer(Place):\n    def __init__(self): super().__init__(a, b, c, d, e)", ["Place"]),
    ],
)
def test_calls_with_many_unnamed_arguments_are_found(call: str, found: list[str]) -> None:
    module = ModuleType("example")
    module.__dict__.update(Place=Place, place=place, Nearer=type("Nearer", (Place,), {}))
    assert [each.built for each in unnamed(call, module, "example.py")] == found


def test_classes_with_many_fields_are_built_by_name() -> None:
    for path in sorted((PROJECT / "qcheck").rglob("*.py")):
        inside = path.relative_to(PROJECT)
        module = import_module(".".join(inside.with_suffix("").parts).removesuffix(".__init__"))
        assert not list(unnamed(path.read_text(encoding="utf-8"), module, str(inside)))
