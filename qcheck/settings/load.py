"""Settings for a path."""

from __future__ import annotations

from qcheck.settings import Settings
from qcheck.settings.discovery import find_settings


def load_settings(first: str = ".", explicit: str | None = None) -> Settings:
    """Return the settings for inputs of which `first` is the first, or from the file `explicit`.

    Raises `SettingsError`.
    """
    path = explicit or find_settings(first)
    if path is None:
        return Settings()
    from qcheck.settings.read import read_settings  # 3.0 ms

    return read_settings(path)
