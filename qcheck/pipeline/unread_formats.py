"""Node pools in formats that qcheck recognises but does not read, such as CloudFormation: they may define any nodes."""

from __future__ import annotations

import re

from qcheck.cluster.place import Place
from qcheck.cluster.problems import NODES, Unread
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.text import Spot
from qcheck.nodepools.formats import may_be_unread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.documents.load import Loaded

FORMATS = {
    "a CloudFormation template": r"""Type["']?\s*:\s*["']?AWS::(?:EKS::Nodegroup|SageMaker::Cluster)\b""",
    "an ARM template": r"""["']type["']\s*:\s*["']Microsoft\.ContainerService/managedClusters\b""",
    "a Cluster Toolkit blueprint": r"""\bsource\s*:\s*["']?\S*modules/compute/gke-node-pool\b""",
    "a Pulumi program": (
        r"""\btype\s*:\s*["']?(?:aws|eks|gcp|azure|azure-native):\w[\w/]*:(?:Managed)?(?:NodeGroup\w*|NodePool|AgentPool)\b"""
    ),
}
"""Text by format that occurs only in definitions of node pools."""
ANY = re.compile("|".join(f"(?P<f{at}>{pattern})" for at, pattern in enumerate(FORMATS.values())))


def unread_formats(loaded: Iterable[Loaded]) -> Iterator[Unread]:
    """Yield the files that define node pools in such a format."""
    names = list(FORMATS)
    for file in loaded:
        text = file.text.text
        match = ANY.search(text) if may_be_unread(text) else None
        if match is not None:
            what = names[int((match.lastgroup or "f0")[1:])]
            spot = Spot(file.text, match.start(), match.end())
            yield Unread(file.text.path, frozenset({NODES}), Place(spot), f"{what} ({file.text.path})")
