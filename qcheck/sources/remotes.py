"""The addresses of a git repository's remotes, read from its configuration without running git."""

from __future__ import annotations

import os
import re

SECTION = re.compile(r"\s*\[\s*(\w+)")
URL = re.compile(r"\s*url\s*=\s*(.+)", re.IGNORECASE)
ADDRESS = re.compile(r"(?:[a-z+]+://)?(?:[^@/]*@)?([^/:]*)(?::\d+/|[:/])/*(.*)")
MOST_BYTES = 1_000_000


def remotes(root: str) -> frozenset[tuple[str, str]]:
    """Return host and path of each remote of the repository whose root is `root`; empty if it has none."""
    found = set()
    section = ""
    for line in _read(os.path.join(_git_directory(root), "config")).splitlines():
        if opened := SECTION.match(line):
            section = opened[1].lower()
        elif section == "remote" and (url := URL.match(line)):
            found.add(address(url[1]))
    return frozenset(found)


def address(url: str) -> tuple[str, str]:
    """Return host and path of a repository, for any notation of its URL: https, ssh or `git@host:path`."""
    plain = url.strip().strip('"').lower().rstrip("/").removesuffix(".git")
    found = ADDRESS.match(plain)
    return (found[1], found[2]) if found else ("", plain)


def _git_directory(root: str) -> str:
    """Return git's configuration directory: for a worktree or a submodule, the file `.git` names it."""
    inside = os.path.join(root, ".git")
    if os.path.isdir(inside):
        return inside
    own = os.path.join(root, _read(inside).partition("gitdir:")[2].strip())
    return os.path.join(own, _read(os.path.join(own, "commondir")).strip())


def _read(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
