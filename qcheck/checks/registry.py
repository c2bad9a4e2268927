"""Binds rule functions to ids."""

from __future__ import annotations

from importlib import import_module

from qcheck.checks import MODULES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from qcheck.findings.finding import Finding

    Check = Callable[..., Iterator[Finding]]

_checks: dict[str, Check] = {}


def rule(identifier: str) -> Callable[[Check], Check]:
    """Registers a function as the rule with this id. It takes the cluster and, by name, the rule's parameters."""

    def bind(check: Check) -> Check:
        if identifier in _checks:
            raise ValueError(f"{identifier} is bound twice")
        _checks[identifier] = check
        return check

    return bind


def check_of(identifier: str, family: str) -> Check | None:
    """The function bound to a rule; imports the family's modules on first use."""
    if identifier not in _checks:
        for module in MODULES.get(family, ()):
            import_module(f"qcheck.checks.{family}.{module}")
    return _checks.get(identifier)


def bound_rules() -> dict[str, Check]:
    """Every bound rule by id."""
    for family, modules in MODULES.items():
        for module in modules:
            import_module(f"qcheck.checks.{family}.{module}")
    return dict(sorted(_checks.items()))
