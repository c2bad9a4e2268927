"""Signs that several definitions of an object are alternatives, only one of which is applied at a time."""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.text import Text
from qcheck.pipeline.relevance import KIND

if TYPE_CHECKING:
    from collections.abc import Sequence

    from qcheck.documents.cursor import Cursor

SHOWN = frozenset(
    {"doc", "docs", "example", "examples", "sample", "samples", "tutorial", "tutorials", "tests", "e2e", "hack"}
)
"""Words in the names of directories of documentation and tests, whose files are applied individually."""
TESTS = frozenset({"test", "testing", "demo"})
"""Further words, which may also name clusters: they count only if all definitions are in such directories."""
WORD = re.compile(r"[a-z0-9]+")
RELEASE = re.compile(r"(?:^|[-_.a-z])v?(\d+\.\d+[\w.-]*)", re.IGNORECASE)
"""A part of a path that names a release, such as `v1.2.0`."""
STEP = re.compile(
    r"(?:^|[-_.])(?:chapter|course|day|exercise|experiment|exp|lab|lesson|module|part|run|section|stage|step|task|week)"
    r"[-_.]?\d+(?:[-_.]|$)|^\d+(?:[-_]|$)",
    re.IGNORECASE,
)
"""The name of a directory that holds one step of a guide or one of several experiments, such as `step-2` or `02`."""
ONE_AT_A_TIME = frozenset(
    {"Job", "MPIJob", "PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "TrainJob", "JobSet", "RayJob"}
    | {"RayCluster", "SparkApplication", "AppWrapper", "Pod"}
)
"""Kinds that people submit, and delete before they submit another one with the same name."""
EKSCTL = "eksctl.io/"
"""The API group of eksctl's files, which define clusters."""
OF_EACH_CLUSTER = frozenset(
    {"ResourceFlavor", "ClusterQueue", "LocalQueue", "Cohort", "Topology", "WorkloadPriorityClass", "Namespace"}
    | {"AdmissionCheck", "PriorityClass", "ConfigMap", "Configuration"}
)
"""Kinds that both the manager and the workers of MultiKueue have. Their LocalQueues must even have the same names."""


def doubt_of(definitions: Sequence[Cursor], top: str, is_multikueue: bool) -> str:
    """Return the reason that differing definitions may be alternatives, as the end of a sentence; empty if they conflict.

    `top` is the directory that contains everything that was read. `is_multikueue`: it defines MultiKueue clusters.
    """
    if is_multikueue and all(found.text_at("kind") in OF_EACH_CLUSTER for found in definitions):
        return " (MultiKueue's manager and workers may each have one)"
    paths = [posixpath.relpath(found.document.path, top) for found in definitions]
    words = [set(WORD.findall(posixpath.dirname(path).lower())) for path in paths]
    if any(found & SHOWN for found in words) or set.intersection(*words) & TESTS:
        return " (in examples or tests)"
    if all(found.text_at("apiVersion").startswith(EKSCTL) for found in definitions):
        return " (eksctl creates each cluster from one file)"
    if all(found.text_at("kind") in ONE_AT_A_TIME for found in definitions):
        return " (one may replace the other)"
    if _are_steps(paths):
        return " (one step may replace another)"
    if len(set(map(posixpath.dirname, paths))) > 1:
        releases = {tuple(RELEASE.findall(posixpath.dirname(path))) for path in paths}
        several = (len(releases) > 1 and () not in releases) or len(releases - {()}) > 1
        return " (for several releases)" if several else ""
    texts = {found.document.path: found.document.text for found in definitions}
    return (
        " (the files seem to be variants)" if len(texts) == len(paths) and _are_variants(list(texts.values())) else ""
    )


def _are_steps(paths: Sequence[str]) -> bool:
    """Return whether the paths of all files first differ in a directory that is named like a step."""
    parts = [path.split("/")[:-1] for path in paths]
    alike = posixpath.commonprefix(parts)
    return len({tuple(each) for each in parts}) > 1 and all(
        len(each) > len(alike) and STEP.search(each[len(alike)]) for each in parts
    )


def _are_variants(files: Sequence[Text]) -> bool:
    """Return whether each file defines several objects, of the same kinds: people choose one of the files."""
    kinds = [sorted(re.findall(KIND, file.text)) for file in files]
    return len(kinds[0]) > 1 and all(each == kinds[0] for each in kinds)
