"""The node class that a Karpenter pool refers to: its kubelet settings, and their effects.

Supported: EC2NodeClass (`karpenter.k8s.aws`), NodeClass of EKS Auto Mode, AKSNodeClass, GCENodeClass. A class that is
not in the repository counts as empty. Sources: the API types of the three Karpenter providers, and the page on
AKSNodeClass of AKS.
"""

from __future__ import annotations

from qcheck.cluster.labels import Taint
from qcheck.cluster.nodes import Certainty
from qcheck.cluster.resources import GPU
from qcheck.cluster.value import TYPE_CHECKING, Value, replace
from qcheck.nodepools import machine_catalogue
from qcheck.nodepools.figures import amounts, place
from qcheck.nodepools.machine_capacity import EFA, of_type
from qcheck.nodepools.reservations import DEFAULT_PODS, Kubelet

if TYPE_CHECKING:
    from qcheck.cluster.nodes import Machine
    from qcheck.cluster.place import Place
    from qcheck.documents.cursor import Cursor
    from qcheck.nodepools.pool import PoolContext

EC2, AKS, GCE = "karpenter.k8s.aws", "karpenter.azure.com", "karpenter.k8s.gcp"
RESERVED = "reserved"
RESERVATION_LABELS = tuple(f"{EC2}/capacity-reservation-{part}" for part in ("id", "type", "interruptible"))
PLACEMENT_LABELS = tuple(f"{EC2}/placement-group-{part}" for part in ("id", "partition"))


class CloudNodeClass(Value):
    """A node class. `group` is its API group, `spec` a cursor on its spec."""

    group: str
    spec: Cursor

    @property
    def kubelet(self) -> Kubelet:
        """The kubelet settings; a number of pods that cannot be read as a number makes the pods unknown."""
        kubelet = self.spec["kubelet"]
        pods = self.spec["maxPods"] if self.group == AKS else kubelet["maxPods"]
        number, per_core = _number(pods), _number(kubelet["podsPerCore"])
        return Kubelet(
            max_pods=number,
            pods_per_core=per_core,
            kube_reserved=amounts(kubelet["kubeReserved"]),
            system_reserved=amounts(kubelet["systemReserved"]),
            eviction=kubelet["evictionHard"]["memory.available"].amount(),
            pods_unknown=(pods.exists and number is None) or (kubelet["podsPerCore"].exists and per_core is None),
        )

    @property
    def place(self) -> Place:
        """The place of its figures."""
        return place(self.spec["maxPods"] if self.group == AKS else self.spec["kubelet"])

    @property
    def has_reservations(self) -> bool:
        return bool(self.spec["capacityReservationSelectorTerms"].items())

    def on(self, machine: Machine, provider: str) -> Machine:
        """Return a machine of the catalogue with the settings of the class."""
        kind = machine_catalogue.find(machine.instance_type or "", provider)
        if kind is None:
            return machine
        usual = kind.pods if self.group == EC2 and kind.pods else DEFAULT_PODS
        configured = of_type(kind, self.kubelet, usual)
        interfaces = [each["interfaceType"].text() for each in self.spec["networkInterfaces"].items()]
        if not interfaces or self.group != EC2:
            return configured
        efa = sum(each in ("efa", "efa-only") for each in interfaces)
        return replace(
            configured,
            allocatable={**configured.allocatable, EFA: efa},
            sure={**configured.sure, EFA: Certainty.DECLARED},
        )

    def capacity_types(self) -> tuple[str, ...]:
        """Return the capacity types that its nodes can have; reservations only if they are selected."""
        return ("on-demand", "spot", *([RESERVED] if self.has_reservations else []))

    def varying_labels(self) -> dict[str, tuple[str, ...]]:
        """Return labels whose values only a running node shows."""
        reservations = RESERVATION_LABELS if self.has_reservations else ()
        groups = PLACEMENT_LABELS if self.spec["placementGroupSelector"].exists else ()
        return dict.fromkeys((*reservations, *groups), ()) if self.group == EC2 else {}

    def taints(self, machines: tuple[Machine, ...]) -> tuple[Taint, ...]:
        """Return the taint of GPU nodes that GKE adds, if a class on GCP requests it."""
        gpus = bool(machines) and all(m.allocatable.get(GPU) for m in machines)
        asked = self.group == GCE and self.spec["autoGPUTaint"].boolean() is True
        return (Taint(GPU, "present"),) if asked and gpus else ()


def _number(at: Cursor) -> int | None:
    number = at.integer()
    return number if number is not None and number >= 0 else None


def referred(template: Cursor, group: str, context: PoolContext) -> CloudNodeClass | None:
    """Return the class that a pool's template names; None if the repository does not contain it."""
    reference = template["nodeClassRef"]
    kind, name = reference["kind"].text() or "", reference["name"].text()
    found = [c for c in context.all_of(group, kind) if name is not None and c["metadata"]["name"].text() == name]
    return CloudNodeClass(group, found[0]["spec"]) if found else None
