"""Kueue's manager Configuration, limited to what affects queues."""

from __future__ import annotations

from qcheck.cluster.labels import LabelSelector
from qcheck.cluster.place import Place
from qcheck.cluster.quantity import Quantity
from qcheck.cluster.value import Value


class Transformation(Value):
    """An input resource that is counted as other resources; with `is_replaced` it no longer counts itself."""

    input: str
    is_replaced: bool
    outputs: dict[str, Quantity]
    multiply_by: str | None
    place: Place


class DeviceClassMapping(Value):
    name: str
    classes: tuple[str, ...]
    place: Place


class Configuration(Value):
    """Kueue's Configuration. `place` is its root, even inside a ConfigMap or Helm values.

    `is_contested`: another Configuration was read that differs.
    """

    version: str
    place: Place
    frameworks: tuple[str, ...]
    external_frameworks: tuple[str, ...] = ()
    manage_without_queue_name: bool = False
    managed_namespaces: LabelSelector | None = None
    namespace: str = "kueue-system"
    waits_for_pods_ready: bool = True
    fair_sharing: bool = False
    preemption_strategies: tuple[str, ...] = ()
    admission_fair_sharing: bool = False
    usage_half_life: str | None = None
    usage_sampling: str | None = None
    ignore_undeclared: bool = False
    exclude_prefixes: tuple[str, ...] = ()
    transformations: tuple[Transformation, ...] = ()
    device_classes: tuple[DeviceClassMapping, ...] = ()
    feature_gates: dict[str, bool] = {}
    is_contested: bool = False
