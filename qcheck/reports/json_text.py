"""JSON output: readable, complete, and harmless in a terminal."""

from __future__ import annotations

import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Json = str | int | float | bool | None | Sequence["Json"] | Mapping[str, "Json"]

_RAW = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")
"""Characters that JSON allows unescaped although terminals and editors act on them."""


def dump(value: Json) -> str:
    """Return JSON text. Unpaired surrogates, which are not valid text, become question marks."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    whole = text.encode("utf-8", "replace").decode("utf-8")
    return _RAW.sub(lambda m: f"\\u{ord(m[0]):04x}", whole) + "\n"
