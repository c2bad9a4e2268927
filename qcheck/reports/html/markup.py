"""HTML that input cannot break out of: every text is escaped unless it was generated here."""

from __future__ import annotations

from html import escape

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.wording import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import TypeAlias

    Child: TypeAlias = "Html | str | int | Iterable[Child] | None"

VOID = frozenset({"br", "meta"})


class Html(str):
    """Text that is already markup."""

    __slots__ = ()


def tag(name: str, /, *children: Child, **attributes: str | int | None) -> Html:
    """Return an element.

    `cls` is its class; attributes that are None are omitted; `aria_label` becomes `aria-label`.
    """
    shown = "".join(f' {_key(k)}="{_text(str(v))}"' for k, v in attributes.items() if v is not None)
    if name in VOID:
        return Html(f"<{name}{shown}>")
    return Html(f"<{name}{shown}>{join(children)}</{name}>")


def join(children: Child) -> Html:
    """Concatenate children; None adds nothing."""
    if children is None:
        return Html("")
    if isinstance(children, Html):
        return children
    if isinstance(children, (str, int)):
        return Html(_text(str(children)))
    return Html("".join(join(child) for child in children))


def table(headers: Sequence[str], rows: Iterable[Sequence[Child]]) -> Html:
    """Return a table that becomes a list of labelled values on a phone."""
    head = tag("thead", tag("tr", [tag("th", h, scope="col") for h in headers]))
    body = [tag("tr", [tag("td", cell, data_label=h) for h, cell in zip(headers, row, strict=True)]) for row in rows]
    return tag("div", tag("table", head, tag("tbody", body)), cls="table")


def share(part: int, whole: int) -> str:
    """Return a percentage, truncated to two decimals: `share(1, 3)` is `33.33%`."""
    hundredths = min(10_000, part * 10_000 // whole) if whole > 0 else 0
    return f"{hundredths // 100}.{hundredths % 100:02d}%"


def _key(name: str) -> str:
    return "class" if name == "cls" else name.replace("_", "-")


def _text(text: str) -> str:
    return escape(plain(text), quote=True)
