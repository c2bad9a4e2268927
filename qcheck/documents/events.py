"""Parses one YAML document to plain data and an index of positions: the hot path of every command.

libyaml's events, as ruamel.yaml's C parser returns them, become dicts and lists directly, without node objects or
marks. The index holds the start of each key and value of each container; `document.py` computes lines and ends on
demand. Only this module is written for speed; `tests/slow_loader.py` is a simple version, and the tests compare the
two.
"""

from __future__ import annotations

from ruamel.yaml import YAML, main
from ruamel.yaml.error import YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    StreamEndEvent,
)

from qcheck.cluster.problems import ProblemCode
from qcheck.documents import scalars
from qcheck.documents.composed import KEY_SHIFT, Composed, RefusedText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    from qcheck.documents.composed import Entries
    from qcheck.documents.limits import Limits

    T = TypeVar("T")

MERGE = "<<"
LIBYAML: Any = main.CParser  # type: ignore[attr-defined]
"""ruamel.yaml's parser on libyaml; None if ruamel.yaml.clib is not installed because it has no wheel."""
LONGEST_REMEMBERED = 64
MEMORY = 100_000

_known: dict[str, Any] = {}
"""Plain scalars already resolved, of all documents: at most `MEMORY`, of at most `LONGEST_REMEMBERED` characters."""


class _PureParser:
    """Events from ruamel.yaml's own parser, some forty times slower than libyaml.

    It refuses tabs that libyaml accepts between plain words, and positions an empty flow value one character earlier.
    """

    def __init__(self, text: str) -> None:
        yaml = YAML(typ="safe", pure=True)
        yaml.version = (1, 1)
        self._events = yaml.parse(text)
        self.dispose: Callable[[], None] = self._events.close

    def get_event(self) -> Any:
        try:
            return next(self._events, None)
        except (AssertionError, ValueError) as error:  # raised for a %YAML version, and for an escape beyond Unicode
            raise YAMLError(str(error)) from None


def from_events(text: str, use: Callable[[Callable[[], Any]], T]) -> T:
    """Return the result of `use`, called with a function that returns the next event of a text.

    Raises `YAMLError`. The events come from libyaml if ruamel.yaml has it. The release inside ruamel.yaml.clib, 0.1.7,
    refuses `:` inside plain words of flow collections (`[nginx:1.27]`), which the API server accepts; the pure parser
    reads those.
    """
    if LIBYAML is not None:
        try:
            return _used(LIBYAML(text), use)
        except YAMLError as error:
            if getattr(error, "problem", None) != "found unexpected ':'":
                raise
    return _used(_PureParser(text), use)


def _used(parser: Any, use: Callable[[Callable[[], Any]], T]) -> T:
    try:
        return use(parser.get_event)
    finally:
        parser.dispose()


def compose(text: str, base: int, limits: Limits) -> Composed:
    """Return the first document of `text`, which is at offset `base` of its file. Raises `RefusedText`."""
    try:
        return from_events(text, lambda following: _composed(following, base, limits))
    except YAMLError as error:
        raise _malformed(error, text, base) from None


def _composed(following: Callable[[], Any], base: int, limits: Limits) -> Composed:
    following()
    if (event := following()).__class__ is StreamEndEvent:
        return Composed(None, base, {}, [])
    composer = _Composer(following, base, limits)
    if event.version not in (None, (1, 1)):
        raise composer.refused(event, "Remove the line: the API server reads only YAML 1.1.")
    root = following()
    data = composer.node(root, 1)
    following()
    return Composed(data, base + root.start_mark.index, composer.where, composer.repeated)


def _malformed(error: Any, text: str, base: int) -> RefusedText:
    """Return the parser's error in its own words, with positions in the whole file."""
    mark, before = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if mark is None:
        at = base + len(text.encode("utf-8", "replace")[: getattr(error, "position", 0)].decode("utf-8", "ignore"))
        return RefusedText(ProblemCode.YAML_SYNTAX, f"not valid YAML: {getattr(error, 'reason', error)}", at, at + 1)
    at = base + min(mark.index, max(len(text) - 1, 0))
    context = ((str(error.context), base + before.index, base + before.index + 1),) if before else ()
    message = f"not valid YAML: {error.problem}" + (f", {error.context}" if error.context else "")
    return RefusedText(code=ProblemCode.YAML_SYNTAX, message=message, start=at, end=at + 1, context=context)


class _Composer:
    __slots__ = ("anchors", "base", "budget", "deepest", "next", "repeated", "sizes", "where")

    def __init__(self, next_event: Callable[[], Any], base: int, limits: Limits) -> None:
        self.next = next_event
        self.base = base
        self.deepest = limits.depth
        self.budget = limits.aliases
        self.where: dict[int, Entries] = {}
        self.anchors: dict[str, Any] = {}
        self.sizes: dict[int, int] = {}
        self.repeated: list[tuple[str, int, int]] = []

    def node(self, event: Any, depth: int) -> Any:
        kind = event.__class__
        if kind is ScalarEvent:
            value = self.scalar(event)
        elif kind is AliasEvent:
            return self.alias(event)
        elif depth > self.deepest:
            raise self.refused(event, f"nested deeper than {self.deepest} levels", ProblemCode.LIMIT)
        elif kind is MappingStartEvent:
            value = self.mapping(event.anchor, depth)
        else:
            value = self.sequence(event.anchor, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = value
        return value

    def scalar(self, event: Any) -> Any:
        text = event.value
        if event.ctag is not None or event.style:
            return text if event.ctag is None else self.tagged(event)
        if text in _known:
            return _known[text]
        try:
            value = scalars.resolve(text)
        except scalars.Unreadable as error:
            raise self.refused(event, str(error)) from None
        if len(text) <= LONGEST_REMEMBERED and len(_known) < MEMORY:
            _known[text] = value
        return value

    def tagged(self, event: Any) -> Any:
        tag = str(event.ctag)
        if tag == "!":
            return event.value
        try:
            return scalars.tagged(tag, event.value)
        except scalars.Unreadable as error:
            raise self.refused(event, str(error)) from None

    def sequence(self, anchor: str | None, depth: int) -> list[Any]:
        data: list[Any] = []
        where: list[int] = []
        self.where[id(data)] = where
        if anchor is not None:
            self.anchors[anchor] = _OPEN
        following, base, scalar = self.next, self.base, self.scalar
        while (kind := (event := following()).__class__) is not SequenceEndEvent:
            where.append(base + event.start_mark.index)
            if kind is ScalarEvent and event.anchor is None:
                data.append(scalar(event))
            else:
                data.append(self.node(event, depth + 1))
        return data

    def mapping(self, anchor: str | None, depth: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        where: dict[str, int] = {}
        self.where[id(data)] = where
        if anchor is not None:
            self.anchors[anchor] = _OPEN
        merged: set[str] | None = None
        following, base, scalar = self.next, self.base, self.scalar
        while (event := following()).__class__ is not MappingEndEvent:
            at = base + event.start_mark.index
            if (
                event.__class__ is ScalarEvent
                and event.value in _plain_keys
                and event.ctag is None
                and event.anchor is None
            ):
                key = event.value
            elif _merges(event):
                merged = merged or set()
                self.merge(data, where, merged, depth)
                continue
            else:
                key = self.key(event)
            event = following()
            start = base + event.start_mark.index
            plain = event.__class__ is ScalarEvent and event.anchor is None
            value = scalar(event) if plain else self.node(event, depth + 1)
            if key in where and not (merged and key in merged):
                self.repeated.append((key, where[key] >> KEY_SHIFT, at))
            if merged:
                merged.discard(key)
            data[key] = value
            where[key] = at << KEY_SHIFT | start
        return data

    def key(self, event: Any) -> str:
        if event.__class__ is MappingStartEvent or event.__class__ not in (ScalarEvent, AliasEvent):
            raise self.refused(event, "a mapping or list cannot be a key")
        value = self.node(event, 1)
        if isinstance(value, (dict, list)):
            raise self.refused(event, "a mapping or list cannot be a key")
        try:
            key = scalars.key(value)
        except scalars.Unreadable as error:
            raise self.refused(event, str(error)) from None
        if _means_itself(event, key) and len(_plain_keys) < MEMORY:
            _plain_keys.add(key)
        return key

    def alias(self, event: Any) -> Any:
        name = event.anchor
        if name not in self.anchors:
            raise self.refused(event, f"there is no anchor named {name} before this alias")
        value = self.anchors[name]
        if value is _OPEN:
            raise self.refused(event, f"the value anchored as {name} contains itself")
        self.budget -= self.size(value)
        if self.budget < 0:
            raise self.refused(event, "aliases expand to more values than the limit allows", ProblemCode.LIMIT)
        return value

    def size(self, value: Any) -> int:
        """Return the number of values inside `value`, aliases expanded; each container is counted only once."""
        if not isinstance(value, (dict, list)):
            return 1
        if id(value) not in self.sizes:
            inner = value.values() if isinstance(value, dict) else value
            self.sizes[id(value)] = 1 + sum(self.size(item) for item in inner)
        return self.sizes[id(value)]

    def merge(self, data: dict[str, Any], where: dict[str, int], merged: set[str], depth: int) -> None:
        """Merge the bases of `<<: *base`.

        The later entry of a mapping wins, merged or written; of several bases, the first.
        """
        event = self.next()
        value = self.node(event, depth + 1)
        sources = value[::-1] if isinstance(value, list) else [value]
        for source in sources:
            if not isinstance(source, dict):
                raise self.refused(event, "<< merges a mapping or a list of mappings, and this is neither")
            data.update(source)
            where.update(self.where[id(source)])  # type: ignore[arg-type]
            merged.update(source)

    def refused(self, event: Any, message: str, code: ProblemCode = ProblemCode.YAML_SYNTAX) -> RefusedText:
        return RefusedText(code, message, self.base + event.start_mark.index, self.base + event.end_mark.index)


_OPEN = object()
"""The value of an anchor while it is being read."""
_plain_keys: set[str] = set()
"""Keys known to mean themselves whether quoted or not; bounded like `_known`."""


def _means_itself(event: Any, key: str) -> bool:
    """Return whether a plain scalar with the text of `key` is always the string `key`, so that it can be remembered."""
    plain = event.__class__ is ScalarEvent and not event.style and event.ctag is None
    return plain and event.value == key and len(key) <= LONGEST_REMEMBERED


def _merges(event: Any) -> bool:
    return (
        event.__class__ is ScalarEvent
        and event.value == MERGE
        and (event.implicit[0] or str(event.ctag) == "tag:yaml.org,2002:merge")
    )
