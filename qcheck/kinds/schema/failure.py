"""Failures of checks, before they become problems of a document."""

from __future__ import annotations

from qcheck.cluster.problems import ProblemCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    Route = tuple[str | int, ...]


QUOTE = "put it in quotes: "
"""The start of a fix for a value that must be a string; `validate` appends the value as it is written in the file."""
REQUIRED = "Required value"
"""The start of the text about a field that is missing; `validate` adds a fix that names the field."""

WRONG_TYPE = "Invalid value: must be of type"
"""The start of the text about a value whose JSON type is not the field's."""


class Failure:
    """One failure. `steps` is the route from the checked value inward, last step first, for callers to extend.

    `code` is the rule's name (`api-rejected`, `unknown-field`), `check` the id of the check, `text` the API server's
    text after the field path, `fix` what to write instead; `on_key` points to the key. `certain` is False if only some
    ways to apply the object reject it.
    """

    __slots__ = ("certain", "check", "code", "fix", "near", "on_key", "related", "steps", "text")

    def __init__(
        self,
        check: str | None,
        text: str,
        steps: Iterable[str | int] = (),
        code: ProblemCode = ProblemCode.API_REJECTED,
        fix: str = "",
        on_key: bool = False,
        near: str | None = None,
    ) -> None:
        self.check = check
        self.text = text
        self.steps = list(steps)
        self.code = code
        self.fix = fix
        self.on_key = on_key
        self.near = near
        self.related: tuple[Route, ...] = ()
        self.certain = True

    @property
    def route(self) -> Route:
        return tuple(reversed(self.steps))


def as_sentence(text: str) -> str:
    """Return advice as a sentence; empty if there is none."""
    return text[:1].upper() + text[1:] + "." * bool(text)


def field_path(route: Route) -> str:
    """Return a route as the API server writes it: `spec.flavors[0].resources[nvidia.com/gpu]`."""
    shown = ""
    for step in route:
        if isinstance(step, int):
            shown += f"[{step}]"
        elif step.replace("_", "").isalnum():
            shown += f".{step}" if shown else step
        else:
            shown += f"[{step}]"
    return shown


def show(value: object) -> str:
    """Return a value as the API server quotes it in messages."""
    if isinstance(value, str):
        return '"' + value.replace('"', '\\"') + '"'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return {dict: "object", list: "array"}[type(value)]
    return "null" if value is None else str(value)


def type_name(value: object) -> str:
    """Return the JSON type of a value."""
    names = {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array"}
    return names.get(type(value), "null")
