"""Kueue's objects in v1beta2 terms, with the API server's defaults applied.

Absent limits are None: without a borrowingLimit a queue borrows without limit, without a lendingLimit it lends all.
"""

from __future__ import annotations

from enum import StrEnum
from functools import cached_property

from qcheck.cluster.labels import Labels, LabelSelector, Taint, Toleration
from qcheck.cluster.objects import Object
from qcheck.cluster.place import Place
from qcheck.cluster.pods import NEVER_PREEMPTS
from qcheck.cluster.quantity import Quantity, amount
from qcheck.cluster.quota_pool import QuotaPool, SchedulerName
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

FlavorResource = tuple[str, str]
"""Flavor name and resource name: the key of all quota arithmetic."""


class PreemptionPolicy(StrEnum):
    """The values of `withinClusterQueue`, `reclaimWithinCohort` and `borrowWithinCohort`: who may be preempted."""

    NEVER = "Never"
    LOWER_PRIORITY = "LowerPriority"
    LOWER_OR_NEWER_EQUAL_PRIORITY = "LowerOrNewerEqualPriority"
    ANY = "Any"


class QueueingStrategy(StrEnum):
    STRICT_FIFO = "StrictFIFO"
    BEST_EFFORT_FIFO = "BestEffortFIFO"


class StopPolicy(StrEnum):
    NONE = "None"
    HOLD = "Hold"
    HOLD_AND_DRAIN = "HoldAndDrain"


class FungibilityPolicy(StrEnum):
    """The values of `whenCanBorrow` and `whenCanPreempt`: whether the flavor search stops at one that needs either."""

    MAY_STOP_SEARCH = "MayStopSearch"
    TRY_NEXT_FLAVOR = "TryNextFlavor"


class FlavorPreference(StrEnum):
    BORROWING_OVER_PREEMPTION = "BorrowingOverPreemption"
    PREEMPTION_OVER_BORROWING = "PreemptionOverBorrowing"


class AdmissionMode(StrEnum):
    """The admission order within a queue; `USAGE_BASED` orders by the past usage of its LocalQueues."""

    USAGE_BASED = "UsageBasedAdmissionFairSharing"
    NOT_BY_USAGE = "NoAdmissionFairSharing"


class Quota(Value, cached=True):
    """One cell: the quota of a queue or cohort for a flavor and a resource."""

    flavor: str
    resource: str
    nominal_quantity: Quantity
    place: Place
    borrowing_quantity: Quantity | None = None
    lending_quantity: Quantity | None = None

    @cached_property
    def nominal(self) -> int:
        """The nominal quota in base units.

        Negative amounts, which the API server rejects, count as zero here and in the limits.
        """
        return self._amount(self.nominal_quantity)

    @cached_property
    def borrowing_limit(self) -> int | None:
        return None if self.borrowing_quantity is None else self._amount(self.borrowing_quantity)

    @cached_property
    def lending_limit(self) -> int | None:
        return None if self.lending_quantity is None else self._amount(self.lending_quantity)

    def _amount(self, quantity: Quantity) -> int:
        return max(0, amount(self.resource, quantity))

    @property
    def nominal_place(self) -> Place:
        return self.place.at("nominalQuota")

    @property
    def key(self) -> FlavorResource:
        return self.flavor, self.resource


class FlavorQuotas(Value):
    """A flavor inside a resource group, with its cells."""

    name: str
    place: Place
    quotas: tuple[Quota, ...]

    @property
    def name_place(self) -> Place:
        return self.place.at("name")


class ResourceGroup(Value):
    """Resources that get one flavor together; flavors are tried in order."""

    covered: tuple[str, ...]
    flavors: tuple[FlavorQuotas, ...]
    place: Place


class ResourceFlavor(Object):
    node_labels: Labels
    node_taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str | None = None

    def quota_pool(self, topology: Topology | None) -> QuotaPool:
        """Return the flavor as a quota pool; `topology` is the Topology that it names, if that exists."""
        return QuotaPool(
            key=self.name,
            name=self.name,
            word="flavor",
            scheduler=SchedulerName.KUEUE,
            node_labels=self.node_labels,
            place=self.place,
            labels_place=self.place.at("spec", "nodeLabels"),
            node_taints=self.node_taints,
            tolerations=self.tolerations,
            levels=topology.levels if topology is not None else (),
            has_topology=self.topology is not None,
        )


class QuotaHolder(Object):
    """The common part of ClusterQueue and Cohort: resource groups and a position in the cohort tree."""

    parent: str | None
    parent_place: Place
    groups: tuple[ResourceGroup, ...]
    weight: Quantity | None

    def quotas(self) -> Iterator[Quota]:
        return (q for g in self.groups for f in g.flavors for q in f.quotas)

    def flavors(self) -> Iterator[FlavorQuotas]:
        return (f for g in self.groups for f in g.flavors)

    def quota(self, flavor: str, resource: str) -> Quota | None:
        return next((q for q in self.quotas() if q.key == (flavor, resource)), None)


class Cohort(QuotaHolder):
    """A node of the cohort tree; `parent` is the parent cohort."""


class Preemption(Value):
    within_queue: PreemptionPolicy
    reclaim: PreemptionPolicy
    borrow: PreemptionPolicy
    borrow_threshold: int | None
    place: Place

    @property
    def is_off(self) -> bool:
        return self.within_queue is self.reclaim is self.borrow is PreemptionPolicy.NEVER


class Fungibility(Value):
    when_can_borrow: FungibilityPolicy
    when_can_preempt: FungibilityPolicy
    place: Place
    preference: FlavorPreference = FlavorPreference.BORROWING_OVER_PREEMPTION


class CheckUse(Value):
    """An admission check of a queue; empty `flavors` means every flavor."""

    name: str
    flavors: tuple[str, ...]
    place: Place
    flavors_place: Place


class ClusterQueue(QuotaHolder):
    """A ClusterQueue. `namespace_selector` None selects no namespace; `parent` is the cohort."""

    strategy: QueueingStrategy
    namespace_selector: LabelSelector | None
    preemption: Preemption
    fungibility: Fungibility
    checks: tuple[CheckUse, ...]
    stop_policy: StopPolicy
    admission_mode: AdmissionMode = AdmissionMode.NOT_BY_USAGE

    @property
    def is_stopped(self) -> bool:
        return self.stop_policy is not StopPolicy.NONE


class LocalQueue(Object):
    cluster_queue: str | None
    stop_policy: StopPolicy
    weight: Quantity | None

    @property
    def is_stopped(self) -> bool:
        return self.stop_policy is not StopPolicy.NONE


class Topology(Object):
    """A Topology. `levels` are node label keys from coarse to fine."""

    levels: tuple[str, ...]

    @property
    def has_hostname(self) -> bool:
        return bool(self.levels) and self.levels[-1] == "kubernetes.io/hostname"


class AdmissionCheck(Object):
    controller: str
    parameters_kind: str | None
    parameters_group: str | None
    parameters_name: str | None

    @property
    def is_multikueue(self) -> bool:
        return self.controller == "kueue.x-k8s.io/multikueue"

    @property
    def is_provisioning(self) -> bool:
        return self.controller == "kueue.x-k8s.io/provisioning-request"


class ProvisioningRequestConfig(Object):
    managed_resources: tuple[str, ...]


class MultiKueueConfig(Object):
    """A MultiKueueConfig. `is_automated`: Kueue itself sets the manager's quota to the sum of the workers' quotas."""

    clusters: tuple[str, ...]
    is_automated: bool = False


class MultiKueueCluster(Object):
    """A worker cluster; `location` is that of its kubeconfig (a Secret's name or a path)."""

    location: str | None


class WorkloadPriorityClass(Object):
    value: int


class PriorityClass(Object):
    """A class of pod priorities for kube-scheduler."""

    value: int
    is_global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"

    @property
    def preempts(self) -> bool:
        return self.preemption_policy != NEVER_PREEMPTS
