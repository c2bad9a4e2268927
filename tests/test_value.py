"""Frozen records: what the model relies on."""

from __future__ import annotations

import ast
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

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

    class Later(Often):
        z: int = 2

    assert (Later(1).y, Later(1).z) == (0, 2)
    with pytest.raises(TypeError):
        Often()  # type: ignore[call-arg]
    with pytest.raises(TypeError):
        Often(1, z=1)  # type: ignore[call-arg]


def calls_by_place(path: Path) -> Iterator[tuple[str, str]]:
    """Yield where a value is built from more than four arguments that only their order tells apart."""
    module = import_module(".".join(path.relative_to(PROJECT).with_suffix("").parts).removesuffix(".__init__"))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) > 4:
            built = getattr(module, node.func.id, None)
            if isinstance(built, type) and issubclass(built, Value):
                yield f"{path.name}:{node.lineno}", node.func.id


def test_values_of_many_fields_are_built_by_name() -> None:
    found = [call for path in sorted((PROJECT / "qcheck").rglob("*.py")) for call in calls_by_place(path)]
    assert not found
