"""The described kinds, with their versions and Kueue's releases; each description is compiled once."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from qcheck.kinds.schema import kueue
from qcheck.kinds.schema.node import SchemaNode, VersionScope, parse
from qcheck.kinds.schema.structure import Compiler

TYPE_CHECKING = False
if TYPE_CHECKING:
    from qcheck.kinds.schema.structure import Check

    Release = tuple[int, int]

KUEUE = "kueue.x-k8s.io"
CONFIG = "config.kueue.x-k8s.io"
OWN = "qcheck.dev"
KAI = ("scheduling.run.ai", "kai.scheduler")
VOLCANO = ("scheduling.volcano.sh", "batch.volcano.sh", "topology.volcano.sh", "flow.volcano.sh")
HEAD = "apiVersion string\nkind string\n"
METADATA = "metadata Metadata\n"
_BUILTIN_GROUPS = frozenset({"", "apps", "batch", "scheduling.k8s.io", "node.k8s.io", "autoscaling"})
_OPERATOR_GROUPS = (
    "jobset.x-k8s.io",
    "ray.io",
    "kubeflow.org",
    "leaderworkerset.x-k8s.io",
    "sparkoperator.k8s.io",
    "trainer.kubeflow.org",
)
_MODULES = {
    **dict.fromkeys(_BUILTIN_GROUPS, "builtin"),
    **dict.fromkeys(_OPERATOR_GROUPS, "operators"),
    OWN: "qcheck_node_pool",
    **dict.fromkeys(KAI, "kai"),
    **dict.fromkeys(VOLCANO, "volcano"),
}
"""The module that describes the kinds of a group."""
TYPE_MODULES = ("pods", "security", "volumes", "builtin", "operators", "configuration", "volcano")
"""The modules with named types; each type occurs only once."""
_NEVER: Release = (999, 0)

_BETA1 = {"v1beta1": ((0, 0), _NEVER), "v1beta2": ((0, 15), _NEVER)}
SERVED: dict[str, dict[str, tuple[Release, Release]]] = {
    "ClusterQueue": _BETA1,
    "LocalQueue": _BETA1,
    "ResourceFlavor": _BETA1,
    "AdmissionCheck": _BETA1,
    "ProvisioningRequestConfig": _BETA1,
    "WorkloadPriorityClass": _BETA1,
    "Workload": _BETA1,
    "Cohort": {"v1alpha1": ((0, 9), (0, 13)), "v1beta1": ((0, 13), _NEVER), "v1beta2": ((0, 15), _NEVER)},
    "Topology": {"v1alpha1": ((0, 9), (0, 14)), "v1beta1": ((0, 14), _NEVER), "v1beta2": ((0, 15), _NEVER)},
    "MultiKueueCluster": {"v1alpha1": ((0, 6), (0, 9)), "v1beta1": ((0, 9), _NEVER), "v1beta2": ((0, 15), _NEVER)},
    "MultiKueueConfig": {"v1alpha1": ((0, 6), (0, 9)), "v1beta1": ((0, 9), _NEVER), "v1beta2": ((0, 15), _NEVER)},
}
"""Kueue's kinds: the first release that serves a version, and the first that no longer does (changelogs of Kueue)."""

CONFIG_SERVED: dict[str, tuple[Release, Release]] = _BETA1

DEPRECATED_SINCE: dict[str, Release] = {"v1beta1": (0, 15)}
NOT_DEPRECATED = frozenset({("MultiKueueConfig", "v1beta1")})
"""Exceptions: CRDs flag v1beta1 as deprecated from the release that brought v1beta2 on (kubernetes-sigs/kueue#8057)."""


class Described:
    """One kind in one version and release: its tree, and the compiled check of a whole object."""

    __slots__ = ("check", "compiler", "tree")

    def __init__(self, text: str, compiler: Compiler) -> None:
        self.tree: SchemaNode = parse(HEAD + text, compiler.scope)
        self.compiler = compiler
        self.check: Check = self.compiler.check(self.tree)


_described: dict[tuple[str, str, str, Release], Described | None] = {}


def described(group: str, version: str, kind: str, release: Release) -> Described | None:
    """Return the description of a kind; None if the kind, or the version of a built-in kind, is not described."""
    key = (group, version, kind, release if group in (KUEUE, CONFIG, *KAI, *VOLCANO) else (0, 0))
    if key not in _described:
        _described[key] = _describe(group, version, kind, release)
    return _described[key]


def _describe(group: str, version: str, kind: str, release: Release) -> Described | None:
    if group == KUEUE:
        text, served = kueue.KINDS.get(kind), SERVED.get(kind, {})
    elif group == CONFIG:
        from qcheck.kinds.schema.configuration import CONFIGURATION  # 0.1 ms

        text, served = CONFIGURATION if kind == "Configuration" else None, CONFIG_SERVED
    else:
        versions, text = _foreign(group, kind)
        served = dict.fromkeys(versions, ((0, 0), _NEVER))
    if text is None or version not in served:
        return None
    text = text if group == CONFIG else METADATA + text
    return Described(text, _compiler(version, release, group in _BUILTIN_GROUPS))


@cache
def _compiler(version: str, release: Release, is_builtin: bool) -> Compiler:
    """Return the compiler of a version and release, shared so that types in several kinds are compiled once."""
    return Compiler(VersionScope(version, release, is_builtin), type_text)


def _foreign(group: str, kind: str) -> tuple[tuple[str, ...], str | None]:
    name = _MODULES.get(group)
    if name is None:
        return (), None
    module = import_module(f"qcheck.kinds.schema.{name}")
    found: tuple[tuple[str, ...], str | None] = module.KINDS.get((group, kind), ((), None))
    return found


def described_versions(group: str, kind: str) -> tuple[str, ...]:
    """Return the served versions of a kind of KAI or Volcano; empty for any other kind."""
    return _foreign(group, kind)[0] if group in (*KAI, *VOLCANO) else ()


@cache
def type_text(name: str) -> str | None:
    """Return the text of a named type; modules of rare types are imported only if no module before them has it."""
    for module in TYPE_MODULES:
        types: dict[str, str] = import_module(f"qcheck.kinds.schema.{module}").TYPES
        if name in types:
            return types[name]
    return None
