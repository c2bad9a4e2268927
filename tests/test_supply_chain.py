"""What qcheck needs: locked by hashes, tested down to the oldest releases allowed, under licences that fit."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text())
RUN = [Requirement(text) for text in DECLARED["project"]["dependencies"]]
EXTRAS = [Requirement(text) for many in DECLARED["project"]["optional-dependencies"].values() for text in many]
DEV = [Requirement(text) for text in DECLARED["dependency-groups"]["dev"]]
FITTING = {
    "Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "0BSD", "ISC", "MPL-2.0", "PSF-2.0", "CNRI-Python", "Zlib",
    "CC0-1.0",
}  # fmt: skip
"""Licences of dependencies that a program under Apache-2.0 may use and be handed on with."""
CLASSIFIERS = {
    "MIT License": "MIT", "BSD License": "BSD-3-Clause", "Apache Software License": "Apache-2.0", "ISC License (ISCL)": "ISC",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0", "Python Software Foundation License": "PSF-2.0",
}  # fmt: skip


def pinned(file: str) -> dict[str, str]:
    """Each requirement of a file, by its name, as one line."""
    lines = (ROOT / file).read_text().replace("\\\n", " ").splitlines()
    return {canonicalize_name(line.partition("==")[0]): line for line in lines if line and not line.startswith("#")}


def version(line: str) -> str:
    return re.split(r"[ ;]", line.partition("==")[2])[0]


def test_everything_that_is_declared_is_locked() -> None:
    locked = pinned("requirements-dev.txt")
    for each in (*RUN, *DEV):
        assert version(locked[canonicalize_name(each.name)]) in each.specifier


def test_the_lock_names_hashes_and_no_places() -> None:
    for name in ("requirements-dev.txt", "requirements.txt"):
        assert not re.search(r"https?:|index|find-links|trusted-host", (ROOT / name).read_text())
        assert not [line for line in pinned(name).values() if "--hash=sha256:" not in line]


def test_the_action_installs_what_was_tested() -> None:
    run, tested = pinned("requirements.txt"), pinned("requirements-dev.txt")
    assert {name: tested.get(name) for name in run} == run
    assert set(needed([*RUN])) <= set(run)


def test_the_oldest_releases_are_those_that_are_allowed() -> None:
    oldest = {name: Version(version(line)) for name, line in pinned("requirements-lowest.txt").items()}
    declared = {canonicalize_name(r.name): Version(s.version) for r in RUN for s in r.specifier if s.operator == ">="}
    assert oldest == declared


def needed(wanted: list[Requirement]) -> Iterator[str]:
    """The names of some requirements and of all that they require here, as far as it is installed."""
    seen: set[str] = set()
    while wanted:
        each = wanted.pop()
        name = canonicalize_name(each.name)
        if name in seen or (each.marker and not each.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        try:
            wanted += [Requirement(text) for text in metadata.requires(name) or ()]
        except metadata.PackageNotFoundError:
            assert name in {canonicalize_name(r.name) for r in EXTRAS}
            continue
        yield name


@pytest.mark.parametrize("name", sorted(needed([*RUN, *EXTRAS])))
def test_the_licences_of_dependencies_fit(name: str) -> None:
    told = metadata.metadata(name)
    licences = [part for text in told.get_all("License-Expression") or () for part in re.split(r" AND | OR ", text)]
    if not licences:
        named = [c.rpartition(" :: ")[2] for c in told.get_all("Classifier") or () if c.startswith("License ::")]
        licences = [CLASSIFIERS.get(each, each) for each in named] or told.get_all("License") or []
    assert licences, f"{name} tells no licence"
    assert set(licences) <= FITTING
