"""Discovery of the settings file: the nearest one upward from the first path, but none outside the repository."""

from __future__ import annotations

import os

FILE_NAMES = ("qcheck.yaml", "qcheck.yml")
PYPROJECT = "pyproject.toml"
TABLE = "[tool.qcheck"


def find_settings(first: str) -> str | None:
    """Return the path of the settings file for inputs of which `first` is the first, or None."""
    for folder in _upward(first):
        for name in FILE_NAMES:
            path = os.path.join(folder, name)
            if os.path.isfile(path) or os.path.islink(path):  # reading a link to nothing is an error
                return os.path.relpath(path)
        path = os.path.join(folder, PYPROJECT)
        if os.path.isfile(path) and _has_table(path):
            return os.path.relpath(path)
    return None


def _upward(first: str) -> list[str]:
    """Return the folder of `first` and its parents up to the git root; without one, up to the working directory."""
    start = os.path.realpath(first if os.path.isdir(first) else os.path.dirname(first) or ".")
    folders = [start]
    while not os.path.exists(os.path.join(folders[-1], ".git")):
        parent = os.path.dirname(folders[-1])
        if parent == folders[-1]:
            return _up_to_working_directory(folders)
        folders.append(parent)
    return folders


def _up_to_working_directory(folders: list[str]) -> list[str]:
    here = os.path.realpath(".")
    return folders[: folders.index(here) + 1] if here in folders else folders[:1]


def _has_table(path: str) -> bool:
    """Return whether a pyproject.toml mentions qcheck, without parsing it: most do not."""
    with open(path, encoding="utf-8", errors="replace") as file:
        return any(line.lstrip().startswith(TABLE) for line in file)
