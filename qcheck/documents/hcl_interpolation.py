"""Joins each HCL interpolation that spans several lines into one line, as the parser requires.

Every character keeps its offset: a line end becomes a space, or a comma if it separates members of an object.
"""

from __future__ import annotations

import re

HEREDOC = re.compile(r"<<-?([A-Za-z_][\w-]*)[^\n]*\n")
OBJECT, OTHER, TEXT = "{", "(", '"'


def on_one_line(text: str) -> str:
    """Return the text with the line ends inside quoted interpolations replaced."""
    return _Scan(text).run()


class _Scan:
    """Scans a text; `open` lists what is open at the current character: strings, templates in them, and brackets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.out = list(text)
        self.open: list[tuple[str, int]] = []
        self.at = 0

    def run(self) -> str:
        while self.at < len(self.text):
            if self.open and self.open[-1][0] == TEXT:
                self._in_text()
            else:
                self._in_code()
        return "".join(self.out)

    @property
    def _is_inside_text(self) -> bool:
        return any(kind == TEXT for kind, _ in self.open)

    def _in_text(self) -> None:
        here = self.text[self.at : self.at + 2]
        if here[:1] == "\\" or self.text[self.at : self.at + 3] in ("$${", "%%{"):
            self.at += 2 if here[:1] == "\\" else 3
        elif here in ("${", "%{"):
            self.open.append((OTHER, self.at))
            self.at += 2
        else:
            if here[:1] == '"':
                self.open.pop()
            self.at += 1

    def _in_code(self) -> None:
        here = self.text[self.at]
        if here == "#" or self.text.startswith(("//", "/*"), self.at):
            self._comment()
            return
        heredoc = HEREDOC.match(self.text, self.at) if here == "<" else None
        if heredoc and not self._is_inside_text:
            end = re.compile(rf"^[ \t]*{heredoc[1]}[ \t]*$", re.MULTILINE).search(self.text, heredoc.end())
            self.at = end.end() if end else len(self.text)
            return
        if here == '"':
            self.open.append((TEXT, self.at))
        elif here in "{[(":
            self.open.append((OBJECT if here == "{" else OTHER, self.at))
        elif here in "}])" and self.open:
            self.open.pop()
        elif here == "\n" and self._is_inside_text:
            self.out[self.at] = self._separator()
        self.at += 1

    def _comment(self) -> None:
        closing = "*/" if self.text.startswith("/*", self.at) else "\n"
        end = self.text.find(closing, self.at)
        end = len(self.text) if end < 0 else end + (2 if closing == "*/" else 0)
        if self._is_inside_text:
            self.out[self.at : end] = " " * (end - self.at)
        self.at = end

    def _separator(self) -> str:
        kind, start = self.open[-1]
        before = self.text[start + 1 : self.at].rstrip()
        after = self.text[self.at :].lstrip()[:1]
        is_between = (
            bool(before) and not before.endswith((",", "{", "(", "[", "=", ":")) and after not in ("}", ",", "")
        )
        return "," if kind == OBJECT and is_between and not before.lstrip().startswith("for") else " "
