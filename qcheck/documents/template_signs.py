"""Signs that a text may be a template or hold placeholders. They are cheap to look for; `templates` decides."""

from __future__ import annotations

import re

STATEMENTS = ("{{", "${", "{%", "%{", "<%")
"""The starts of template statements. Searching a text for their first characters beforehand is much faster."""
LEFT_OPEN = ("<", "$", "__", "@", "%", "...", "[[", "PLACEHOLDER", "REPLACE", "CHANGE", "YOUR_")
"""Every text with a placeholder for people to fill in contains one of these."""
PLACEHOLDER = (
    r"<[A-Za-z]|\$[A-Za-z_]|__[A-Za-z]|@@?(?!sha256:)[A-Za-z]|%%?[A-Za-z]|\.\.\.(?=[\"']?[\s,}\]])|\[\[[ \w]"
    r"|PLACEHOLDER|REPLACE_?ME|CHANGE_?ME|YOUR_"
)
"""The start of a placeholder; `templates` recognises whole ones. The digest of an image is not one."""
IN_CAPITALS = re.compile(r""":(?<!- name:)[ \t]+["']?(?:[A-Z][A-Z0-9]*_|NAMESPACE\b|[A-Z]+ [A-Z]+\b)""")
"""A word that may be the name of a variable in place of a value. Items of lists with such names are environment variables."""
INSIDE = re.compile(r"_[A-Z][A-Z0-9]*_")
"""A variable inside a lower-case name, such as `job_ID_`."""
FOR_A_VALUE = (
    r"""(?:^|[ \t{,"'])(?:\w*(?:Name|namespace|Account|Quota|cohort|[rR]eplicas|parallelism|completions|count)|name"""
    r"""|[\w.-]+/[\w.-]+|cpu|memory)["']?\Z"""
)
"""The text before such a word: a key."""
IN_A_VALUE = r"""(?:[:,\[-][ \t]+|[\[,])["']?[\w./-]*\Z"""
"""The text before a placeholder that is, or begins, a value."""
LONGEST_BEFORE = 300


def may_be_template(text: str) -> bool:
    """Return whether `templates` has anything to examine; cheap."""
    if ("{" in text or "<" in text) and any(mark in text for mark in STATEMENTS):
        return True
    return (
        any(_is_left_open(text, word) for word in LEFT_OPEN)
        or _has_gap(text)
        or any(text[m.start() - 1].islower() for m in INSIDE.finditer(text))
        or any(re.search(FOR_A_VALUE, _before(text, m.start())) for m in IN_CAPITALS.finditer(text))
    )


def _has_gap(text: str) -> bool:
    """Return whether a word ends with the placeholder `{}`; `{}` alone is an empty mapping."""
    at = text.find("{}", 1)
    while at >= 0:
        if text[at - 1].isalnum() or text[at - 1] in "-_":
            return True
        at = text.find("{}", at + 2)
    return False


def _before(text: str, at: int) -> str:
    """Return the text of a line up to an offset, without its beginning if it is long."""
    start = max(0, at - LONGEST_BEFORE)
    return text[max(start, text.rfind("\n", start, at) + 1) : at]


def _is_left_open(text: str, word: str) -> bool:
    """Return whether a value seems to contain a placeholder that is, or begins with, `word`."""
    at = text.find(word)
    while at >= 0:
        if re.search(IN_A_VALUE, _before(text, at)) and re.compile(PLACEHOLDER).match(text, at):
            return True
        at = text.find(word, at + 1)
    return False
