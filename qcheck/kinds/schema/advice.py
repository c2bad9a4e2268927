"""Advice for a value that the API server rejects, from the server's text: the field and the accepted values."""

from __future__ import annotations

import re

_SUPPORTED = re.compile(r"^Unsupported value: .*?: supported [a-z ]+: (.+)$", re.DOTALL)
_DEFAULT = re.compile(r' \(default\)| as there .*|"')
_BOUND = re.compile(r"should be (greater|less) than or equal to (\S+)$")
_MOST = re.compile(r"^Too many: .*must have at most (\d+)")
_LONGEST = re.compile(r"^Too long: .*may not be more than (\d+)")
_VALUE = r'"(?:[^"\\]|\\.)*"|[^":]+'
_TYPE = re.compile(r"^Invalid value: .*must be of type (\w+), not \w+$", re.DOTALL)
_NO_SUCH = re.compile(rf"^(?:Invalid|Unsupported) value: (?:{_VALUE}): is not (an? .*)$")
_CONDITION = re.compile(rf"^(?:Invalid|Unsupported) value: (?:(?:{_VALUE}): )?((?:must|should|may) .*)$", re.DOTALL)


def advice(path: str, text: str) -> str:
    """Return what to do about the field at `path`, without a full stop."""
    kind = text.partition(":")[0]
    if kind == "Required value":
        return f"add {path}"
    if "is not a quantity;" in text:
        return f"set {path} to a quantity, such as 8, 500m or 64Gi"
    if "must not contain more than one of " in text:
        return f"keep one of {text.rpartition(' more than one of ')[2]}"
    if kind == "Duplicate value":
        return f"remove {path}, or give it a unique value"
    if kind == "Forbidden":
        return f"remove {path}, or meet the condition in the message"
    if found := _SUPPORTED.search(text):
        return f"set {path} to {_either(_DEFAULT.sub('', found[1]).rstrip(',').split(', '))}"
    if found := _BOUND.search(text):
        return f"set {path} to {found[2]} or {'more' if found[1] == 'greater' else 'less'}"
    if found := _MOST.search(text):
        return f"keep at most {found[1]} of {path}"
    if found := _LONGEST.search(text):
        return f"shorten {path} to at most {found[1]} characters"
    if found := _TYPE.search(text):
        return f"change {path} to {'an' if found[1][0] in 'aeio' else 'a'} {found[1]}"
    if (found := _CONDITION.search(text)) and "\n" not in found[1]:
        return f"change {path}: it {found[1]}"
    if found := _NO_SUCH.search(text):
        return f"change {path} to {found[1]}"
    return f"correct {path} as the message describes"


def _either(values: list[str]) -> str:
    return " or ".join([", ".join(values[:-1]), values[-1]]) if len(values) > 1 else values[0]
