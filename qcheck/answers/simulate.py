"""Simulation of the scheduler of a scenario's workloads."""

from __future__ import annotations

from qcheck.answers.simulate_kai import is_for_kai, simulate_kai
from qcheck.answers.simulate_kueue import simulate_kueue
from qcheck.cluster.value import TYPE_CHECKING

if TYPE_CHECKING:
    from qcheck.answers.scenario import Scenario
    from qcheck.answers.simulated import Simulated
    from qcheck.cluster.cluster import Cluster
    from qcheck.schedulers.kueue.simulation.run import Report


def simulate(cluster: Cluster, scenario: Scenario, report: Report | None = None) -> Simulated:
    """Run a scenario. Raises `QuestionError` for a workload that refers to something the cluster does not have."""
    return (simulate_kai if is_for_kai(cluster, scenario) else simulate_kueue)(cluster, scenario, report)
