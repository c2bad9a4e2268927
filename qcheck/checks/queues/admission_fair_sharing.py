"""QC423: admission fair sharing by usage that is not counted."""

from __future__ import annotations

from qcheck.checks.registry import rule
from qcheck.cluster.kueue import AdmissionMode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.findings.finding import finding
from qcheck.schedulers.kueue.gates import is_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from qcheck.cluster.cluster import Cluster
    from qcheck.cluster.kueue_configuration import Configuration
    from qcheck.cluster.place import Place
    from qcheck.findings.finding import Finding

GATE = "AdmissionFairSharing"
SECTION = "admissionFairSharing"


@rule("QC423")
def admission_fair_sharing_inert(cluster: Cluster) -> Iterator[Finding]:
    """Report once why the usage of local queues is never counted, with the queues that depend on it."""
    queues = [q for q in cluster.queues if q.admission_mode is AdmissionMode.USAGE_BASED]
    manager = cluster.configuration
    if not queues or manager is None:
        return
    why = _obstacle(cluster, manager)
    if why is None:
        return
    place, fact, change = why
    names = ", ".join(q.name for q in queues)
    found = finding(place, f"{fact}, so the usage of local queues never orders the workloads of {names}").fixed_by(
        change
    )
    for queue in queues:
        found = found.near(queue.place.at("spec", "admissionScope", "admissionMode"), f"{queue.name} orders by usage")
    yield found.with_data(queues=[q.name for q in queues])


def _obstacle(cluster: Cluster, manager: Configuration) -> tuple[Place, str, str] | None:
    """Return the place, the fact and the fix for the first thing that keeps usage from being counted."""
    section = manager.place.at(SECTION)
    if not is_on(cluster, GATE):
        change = f"Set featureGates.{GATE} to true, or run Kueue 0.15 or newer."
        if GATE in manager.feature_gates:
            return manager.place.at("featureGates", GATE), f"the gate {GATE} is off", change
        if cluster.install is not None and GATE in cluster.install.gates:
            return cluster.install.place, f"the gate {GATE} is off", f"Remove {GATE}=false from the manager's gates."
        fact = f"the gate {GATE} is off by default in Kueue {cluster.policy.kueue}"
        return (section.key() if manager.admission_fair_sharing else manager.place), fact, change
    if not manager.admission_fair_sharing:
        return manager.place, f"the Configuration has no {SECTION}", f"Add {SECTION} with usageHalfLifeTime: 168h."
    if _is_zero(manager.usage_half_life):
        shown = "is missing, which means 0" if manager.usage_half_life is None else f"is {manager.usage_half_life}"
        place = section.key() if manager.usage_half_life is None else section.at("usageHalfLifeTime")
        return (
            place,
            f"usageHalfLifeTime {shown}",
            "Set usageHalfLifeTime to the time in which usage loses half its weight, such as 168h.",
        )
    if manager.usage_sampling is not None and _is_zero(manager.usage_sampling):
        fact = f"usageSamplingInterval is {manager.usage_sampling}"
        return section.at("usageSamplingInterval"), fact, "Set usageSamplingInterval to 5m."
    return None


def _is_zero(duration: str | None) -> bool:
    return duration is None or not any(digit in duration for digit in "123456789")
