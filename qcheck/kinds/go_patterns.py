"""Go's regular expressions, as the API server and controllers evaluate them: in linear time.

The engine is Rust's `regex` in pydantic-core, which does not backtrack either. Python's `re` takes exponential time for
patterns such as `(a+)+$`. `rewritten` translates the differences in syntax.
"""

from __future__ import annotations

import re
from functools import lru_cache

from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ESCAPE = r"\\(?P<octal>0[0-7]{0,2}|[1-7][0-7]{1,2})|\\(?P<escaped>x\{\w+\}|x\w\w|[pP]\{\^?\w+\}|.)"
TOKEN = re.compile(
    rf"\\Q(?P<quoted>.*?)(?:\\E|\Z)|{ESCAPE}"
    r"|\[(?P<negated>\^?)(?P<set>\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*+)(?P<end>\]?)|(?P<repeats>\{\d+(?:,\d*)?\})"
    r"|\(\?P?<(?P<name>\w+)>|(?P<plain>.)",
    re.DOTALL,
)
MEMBER = re.compile(rf"(?P<known>\[:\^?\w+:\])|{ESCAPE}|(?P<plain>.)", re.DOTALL)
SURROGATE = re.compile("[\ud800-\udfff]")
CLASSES = {"d": "0-9", "s": r"\t\n\f\r ", "w": "0-9A-Za-z_"}
"""In Go, these classes contain only ASCII characters."""
NOT_JUDGED = re.compile("size limit|maximum|property|capture group")
"""Errors of the engine for patterns that Go may accept."""


def matcher(pattern: str) -> Callable[[str], bool] | None:
    """Return a function that tests whether a text contains a match; None if the pattern cannot be evaluated."""
    return _compiled(pattern)[0]


def fault(pattern: str) -> str | None:
    """Return why Go rejects a pattern; None if Go accepts it or if this is unknown."""
    return _compiled(pattern)[1]


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> tuple[Callable[[str], bool] | None, str | None]:
    from pydantic_core import SchemaError, SchemaValidator, core_schema  # 35 ms

    if r"\C" in pattern:
        return None, None
    try:
        made = SchemaValidator(core_schema.str_schema(pattern=rewritten(pattern), regex_engine="rust-regex"))
    except SchemaError as error:
        why = str(error).rpartition("error: ")[2]
        return None, None if NOT_JUDGED.search(why) else why
    return lambda text: made.isinstance_python(SURROGATE.sub("\ufffd", text)), None


def rewritten(pattern: str) -> str:
    """Return a Go pattern in the engine's syntax, with special characters that are literals as their code points."""
    return "".join(_parts(pattern))


def _parts(pattern: str) -> Iterator[str]:
    for token in TOKEN.finditer(pattern):
        if token["quoted"] is not None:
            yield from map(_literal, token["quoted"])
        elif token["set"] is not None:
            yield f"[{token['negated']}{''.join(_members(token['set']))}{token['end']}"
        elif token["name"] is not None:
            yield "("
        elif token["escaped"] in ("b", "B"):
            yield rf"(?-u:{token[0]})"
        elif token["repeats"] is None and token["plain"] == "{":
            yield _literal("{")
        else:
            yield token[0] if token["plain"] or token["repeats"] else _escape(token)


def _members(text: str) -> Iterator[str]:
    """Yield the members of a character class. Ranges are kept; all other characters are literals."""
    found = [m[0] if m["known"] else _escape(m) if m["plain"] is None else m["plain"] for m in MEMBER.finditer(text)]
    at = 0
    while at < len(found):
        is_range = found[at + 1 : at + 2] == ["-"] and at + 2 < len(found)
        ends = found[at : at + 3 : 2] if is_range else found[at : at + 1]
        yield "-".join(_literal(end) if len(end) == 1 else end for end in ends)
        at += 3 if is_range else 1


def _escape(token: re.Match[str]) -> str:
    """Return an escape sequence in the engine's syntax."""
    if token["octal"] is not None:
        return _literal(chr(int(token["octal"], 8)))
    sign = token["escaped"]
    if sign.lower() in CLASSES:
        return f"[{'^' if sign.isupper() else ''}{CLASSES[sign.lower()]}]"
    if "^" in sign[1:]:
        return rf"\{sign[0].swapcase()}{sign[1:].replace('^', '')}"
    return token[0] if sign.isalnum() or len(sign) > 1 else _literal(sign)


def _literal(sign: str) -> str:
    return sign if sign.isalnum() else rf"\x{{{ord(sign):x}}}"
