"""Settings for a path: those of the nearest settings file at or above it, within the repository."""

from __future__ import annotations

import os

from qcheck.settings import Settings, SettingsError

FILE_NAMES = ("qcheck.yaml", "qcheck.yml")
PYPROJECT = "pyproject.toml"
TABLE = "qcheck"


def load_settings(first: str = ".", explicit: str | None = None) -> Settings:
    """Return the settings for inputs of which `first` is the first, or from the file `explicit`.

    Raises `SettingsError`.
    """
    path = explicit or find_settings(first)
    if path is None:
        return Settings()
    from qcheck.settings.read import read_settings  # 3.0 ms

    return read_settings(path)


def find_settings(first: str) -> str | None:
    """Return the path of the settings file for inputs that start with `first`, or None.

    Raises `SettingsError` if it cannot be read or if there are two in one folder.
    """
    for folder in _upward(first):
        found = [path for name in FILE_NAMES if os.path.lexists(path := os.path.join(folder, name))]
        found += filter(_has_table, [os.path.join(folder, PYPROJECT)])
        if found:
            return _only([os.path.relpath(path) for path in found])
    return None


def _only(found: list[str]) -> str:
    path, *others = found
    if others:
        raise SettingsError(
            [f"{others[0]}: a second settings file next to {path}"], "Keep the settings in one of them."
        )
    if os.path.exists(path) and not os.path.isfile(path):
        raise SettingsError(
            [f"{path}: not a regular file"], "Remove or rename it, or name the settings file with --config."
        )
    return path


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
    """Return whether a pyproject.toml has settings of qcheck; parse it only if it mentions them.

    A file that mentions them but cannot be parsed counts as well: reading it reports the error.
    """
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            raw = file.read()
    except OSError as error:
        fault = f"{os.path.relpath(path)}: {error.strerror or error}"
        raise SettingsError([fault], "Name the settings file with --config.") from None
    return TABLE.encode() in raw and _parsed_table(raw)


def _parsed_table(raw: bytes) -> bool:
    import tomllib  # 4 ms

    try:
        tool = tomllib.loads(raw.decode()).get("tool")
    except (ValueError, RecursionError):
        return True
    return isinstance(tool, dict) and TABLE in tool
