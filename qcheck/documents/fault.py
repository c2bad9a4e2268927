"""Faults of a file that do not depend on its meaning."""

from __future__ import annotations

from qcheck.cluster.problems import ProblemCode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.composed import RefusedText
    from qcheck.documents.text import Spot, Text


class Fault:
    """Something in a file that could not be read.

    `code` is one of `yaml-syntax`, `duplicate-key`, `template-not-rendered`, `limit`, `not-text`; `related` are further
    spots, each with a caption; `data` holds facts for reports, such as the name of the limit.
    """

    __slots__ = ("code", "data", "help", "message", "related", "spot")

    def __init__(
        self,
        code: ProblemCode,
        message: str,
        spot: Spot,
        help: str = "",
        related: tuple[tuple[str, Spot], ...] = (),
        data: dict[str, str | int] | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.spot = spot
        self.help = help
        self.related = related
        self.data = data or {}

    def __repr__(self) -> str:
        return f"Fault({self.code}, {self.message!r}, {self.spot})"


def over_limit(name: str, message: str, spot: Spot) -> Fault:
    return Fault(
        ProblemCode.LIMIT,
        message,
        spot,
        f"Raise the limit `{name}` in the settings if this is intended.",
        data={"limit": name},
    )


def refused(text: Text, refusal: RefusedText) -> Fault:
    spot = text.spot(refusal.start, refusal.end)
    if refusal.code is ProblemCode.LIMIT:
        return over_limit("aliases" if "aliases" in str(refusal) else "depth", str(refusal), spot)
    related = tuple((caption, text.spot(start, end)) for caption, start, end in refusal.context)
    return Fault(
        code=refusal.code, message=str(refusal), spot=spot, help=_hint(text.text, refusal.start), related=related
    )


MOST_SHOWN = 10
"""Places shown for one repeated key."""


def duplicate_keys(text: Text, repeated: Iterable[tuple[str, int, int]]) -> Iterator[Fault]:
    """Yield one fault per repeated key of a mapping.

    Each item of `repeated` is the key, one place of it, and the next.
    """
    places: dict[tuple[str, int], list[int]] = {}
    for key, at, following in repeated:
        chain = places[key, following] = places.pop((key, at), [at])
        chain.append(following)
    for (key, _), (first, second, *more) in places.items():
        times = f"{len(more) + 2} times" if more else "twice"
        kept = "all but one" if more else "one of the two"
        related = [("first written here", first), *(("written again here", at) for at in more[: MOST_SHOWN - 2])]
        yield Fault(
            code=ProblemCode.DUPLICATE_KEY,
            message=f"the key {key!r} occurs {times} in one mapping; the API server rejects this or drops {kept}",
            spot=text.spot(second, second + len(key)),
            help="Keep one of them." if more else "Keep one of the two.",
            related=tuple((caption, text.spot(at, at + len(key))) for caption, at in related),
            data={"key": key},
        )


def _hint(text: str, at: int) -> str:
    return "Indent with spaces: YAML does not allow tabs here." if text[at : at + 1] == "\t" else ""


def template(text: Text, placeholder: str) -> Fault:
    """Return the fault of a file that must be rendered first.

    `placeholder` is a value that shows this if the file has no template marks.
    """
    from qcheck.documents import templates  # 0.7 ms

    engine = templates.engine(text.text, text.path)
    marks = (templates.first_mark(text.text, mark=each) for each in (templates.MARK, templates.PLACEHOLDER))
    mark = templates.first_written(text.text, placeholder) if placeholder else None
    mark = mark or next((m for m in marks if m), None)
    spot = text.spot(*mark.span()) if mark else text.spot(0, 0)
    return Fault(
        ProblemCode.TEMPLATE_NOT_RENDERED,
        "this file is a template and was not read: its output is not known",
        spot,
        templates.HOW[engine],
        data={"engine": engine, "placeholder": text.text[spot.start : spot.end][:60]},
    )
