"""The formats of names and values: the API server's patterns, and descriptions for people."""

from __future__ import annotations

import re
from functools import lru_cache

from qcheck.cluster.value import Value

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_NAME = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"


class Format(Value):
    """`pattern` matches the whole text, `part` what dots separate; `longest` is the format's own limit of characters."""

    pattern: str
    says: str
    longest: int | None = None
    part: str | None = None

    def matches(self, text: str) -> bool:
        if self.part is not None:
            return all(re.fullmatch(self.part, each) for each in text.split("."))
        return re.fullmatch(self.pattern, text) is not None  # `re` caches compiled patterns


DURATION = r"[+-]?(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+)"
"""Go's syntax for durations."""
FORMATS = {
    "dns": Format(
        _SUBDOMAIN,
        "must be a lower-case DNS name: letters a-z, digits, '-' and '.', starting and ending with a letter or digit",
        253,
        part=_LABEL,
    ),
    "dns-label": Format(
        _LABEL,
        "must be a DNS label: letters a-z, digits and '-', starting and ending with a letter or digit, no dots",
        63,
    ),
    "kind-name": Format(
        "[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?",
        "must be a kind: letters, digits and '-', starting with a letter",
        63,
    ),
    "label-key": Format(
        f"({_SUBDOMAIN}/)?({_NAME})",
        "must be a label key: an optional DNS name and '/', then letters, digits, '-', '_' and '.'",
        317,
    ),
    "go-duration": Format(DURATION, "is not a duration such as 30m or 1h30m"),
}
QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)
"""The syntax of quantities in CRDs; Go's own parser, which built-in kinds use, also accepts a lone sign."""


@lru_cache(4096)
def subdomain_fault(text: str) -> str | None:
    """Return the fault of a DNS subdomain such as an object's name; None if it is valid."""
    if len(text) > 253:
        return "must be no more than 253 characters"
    return None if FORMATS["dns"].matches(text) else FORMATS["dns"].says


@lru_cache(4096)
def label_fault(text: str) -> str | None:
    """Return the fault of a DNS label; None if it is valid."""
    if len(text) > 63:
        return "must be no more than 63 characters"
    return None if FORMATS["dns-label"].matches(text) else FORMATS["dns-label"].says


@lru_cache(4096)
def key_fault(text: str) -> str | None:
    """Return the fault of a label key (optional DNS prefix, name of at most 63 characters); None if valid."""
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        return "a label key has at most one '/'"
    if slash and not prefix:
        return "the prefix before '/' must not be empty"
    if prefix and subdomain_fault(prefix):
        return f"the prefix {prefix!r} {subdomain_fault(prefix)}"
    if not name:
        return "the name part must not be empty"
    if len(name) > 63:
        return "the name part must be no more than 63 characters"
    if not re.fullmatch(_NAME, name):
        return "the name part must be letters, digits, '-', '_' or '.', and start and end with a letter or digit"
    return None


@lru_cache(4096)
def value_fault(text: str) -> str | None:
    """Return the fault of a label value; None if it is valid."""
    if len(text) > 63:
        return "must be no more than 63 characters"
    if text and not re.fullmatch(_NAME, text):
        return "must be empty, or letters, digits, '-', '_' or '.', starting and ending with a letter or digit"
    return None


def near_name(text: str) -> str | None:
    """Return the DNS name that was probably intended."""
    meant = re.sub(r"[^a-z0-9.-]+", "-", text.lower()).strip("-.")
    return meant if meant and meant != text and FORMATS["dns"].matches(meant) else None


def is_address(text: str) -> bool:
    """Return whether a text is an IP address without a zone."""
    import ipaddress  # 0.9 ms

    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text
