"""Damaging manifests: the ways in which files go wrong in repositories, and the ways in which somebody would try."""

from __future__ import annotations

import random
import re

VALUES = [
    "",
    "null",
    "[]",
    "{}",
    "- a",
    "-1",
    "0",
    "y",
    "~",
    "1e400",
    "1e-400",
    "0." + "0" * 60 + "1",
    "9223372036854775807",
    "9223372036854775808",
    "1" * 5000,
    "8Ei",
    "1E",
    "64m",
    "0.5",
    "1_000",
    "!!binary aGk=",
    "!!int x",
    "&a [*a]",
    "*nobody",
    "'{{ .Values.x }}'",
    "${x}",
    '"\\e[31mred\\e[0m\\a"',
    '"</script><img src=x onerror=alert(1)>"',
    '"::error file=x::y%0A::set-output name=a::b"',
    '"a\\nb\\r::warning::c"',
    "'| a | `b` | [c](http://x)'",
    "[[[[]]]]",
    "{a: {b: {c: [1, {d: e}]}}}",
    "|\n      text",
    "x" * 3000,
    "\u202e\u2066\ufeff\u00a0",
    "2001-01-01",
    "1:30",
    ".inf",
    "kueue.x-k8s.io/v1beta2",
    "true",
    "nvidia.com/gpu",
]
"""What may stand where something else is meant."""

PIECES = [b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\t", b"---\n", b"...\n", b"<<: *a\n", b"%YAML 1.2\n", b"\xc3"]
PIECES += [b"{", b"}", b"[", b"]", b": ", b"- ", b"#", b'"', b"'", b"|", b">", b"&a ", b"*a", b"!!x ", b"\xe2\x80\xa8"]
PIECES += [
    b"# qcheck: ignore[QC101]\n",
    b"# qcheck: ignore[QC1] x until=2000-01-01\n",
    b"${",
    b"{{ x }}",
    b"{% if x %}\n",
]


def damaged(raw: bytes, dice: random.Random) -> bytes:
    """The bytes of a file with one to four things wrong with it."""
    for _ in range(dice.choice((1, 1, 2, 4))):
        raw = dice.choice(WAYS)(raw, dice)
    return raw


def _value(raw: bytes, dice: random.Random) -> bytes:
    """Another value for a key, or in a list."""
    lines = raw.split(b"\n")
    at = dice.randrange(len(lines))
    match = re.match(rb"(\s*(?:- )?[^:\s]+:|\s*-) ?", lines[at])
    if match:
        lines[at] = match[0] + dice.choice(VALUES).encode()
    return b"\n".join(lines)


def _piece(raw: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(raw) + 1)
    return raw[:at] + dice.choice(PIECES) + raw[at + dice.randrange(4) :]


def _line(raw: bytes, dice: random.Random) -> bytes:
    """A line gone, doubled, moved or indented otherwise."""
    lines = raw.split(b"\n")
    at, to = dice.randrange(len(lines)), dice.randrange(len(lines))
    way = dice.randrange(4)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(to, lines[at])
    elif way == 2:
        lines[at], lines[to] = lines[to], lines[at]
    else:
        lines[at] = b" " * dice.randrange(9) + lines[at].lstrip()
    return b"\n".join(lines)


def _bytes(raw: bytes, dice: random.Random) -> bytes:
    """A byte changed, or the rest of the file gone."""
    if not raw:
        return raw
    at = dice.randrange(len(raw))
    return raw[:at] if dice.random() < 0.2 else raw[:at] + bytes([dice.randrange(256)]) + raw[at + 1 :]


def _number(raw: bytes, dice: random.Random) -> bytes:
    """Another size for a number."""
    found = list(re.finditer(rb"\d+", raw))
    if not found:
        return raw
    match = dice.choice(found)
    other = dice.choice(
        [b"0", b"-1", b"1", b"7", b"1000000", b"9223372036854775807", b"99999999999999999999999", b"0.5"]
    )
    return raw[: match.start()] + other + raw[match.end() :]


def _name(raw: bytes, dice: random.Random) -> bytes:
    """One word of the file where another one stood."""
    words = list(re.finditer(rb"[A-Za-z][\w./-]{2,}", raw))
    if not words:
        return raw
    gone, other = dice.choice(words), dice.choice(words)
    return raw[: gone.start()] + other[0] + raw[gone.end() :]


WAYS = (_value, _value, _value, _number, _name, _line, _line, _piece, _bytes)
