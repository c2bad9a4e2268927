"""Binding of rule functions to ids."""

from __future__ import annotations

from importlib import import_module

from qcheck.checks import MODULES
from qcheck.checks.subjects import has_subject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.findings.finding import Finding

    Check = Callable[..., Iterator[Finding]]

_checks: dict[str, Check] = {}


def rule(identifier: str) -> Callable[[Check], Check]:
    """Register a function as the rule with this id. It takes the cluster and, by name, the rule's parameters."""

    def bind(check: Check) -> Check:
        if identifier in _checks:
            raise ValueError(f"{identifier} is bound twice")
        _checks[identifier] = check
        return check

    return bind


def import_checks(families: Iterable[str], cluster: Cluster | None = None) -> None:
    """Import the modules of some families; with a cluster, only those whose rules may find something in it."""
    for family in families:
        for module in MODULES.get(family, ()):
            if cluster is None or has_subject(cluster, f"{family}.{module}"):
                import_module(f"qcheck.checks.{family}.{module}")


def check_of(identifier: str) -> Check | None:
    """Return the function of a rule; None if there is none, or its module is not imported."""
    return _checks.get(identifier)


def bound_rules() -> dict[str, Check]:
    """Return every function by rule id."""
    import_checks(MODULES)
    return dict(sorted(_checks.items()))
