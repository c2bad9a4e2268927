"""Fields that have another name in another version or in common use: the right name, or why it no longer exists."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    Names = tuple[str, ...]

RENAMED: dict[tuple[str, Names], tuple[str, str]] = {
    ("ClusterQueue", ("spec", "cohort")): ("cohortName", "v1beta2 calls it cohortName"),
    ("ClusterQueue", ("spec", "cohortName")): ("cohort", "v1beta1 calls it cohort"),
    ("ClusterQueue", ("spec", "parentName")): ("", "a ClusterQueue names its parent in cohortName (cohort in v1beta1)"),
    ("ClusterQueue", ("spec", "admissionChecks")): (
        "admissionChecksStrategy",
        "v1beta2 has only admissionChecksStrategy.admissionChecks, a list of {name, onFlavors}",
    ),
    ("ClusterQueue", ("spec", "requestableResources")): (
        "resourceGroups",
        "the name is from v1alpha1; resourceGroups now lists coveredResources and flavors, whose quota is nominalQuota",
    ),
    ("ClusterQueue", ("spec", "concurrentAdmissionPolicy")): ("", "v1beta2 has it, from release 0.18 on"),
    ("Cohort", ("spec", "parent")): ("parentName", "v1alpha1 called it parent; the name is now parentName"),
    ("Cohort", ("spec", "parentName")): ("parent", "v1alpha1 calls it parent"),
    ("Cohort", ("spec", "cohortName")): ("parentName", "a Cohort names its parent in parentName"),
    ("Cohort", ("spec", "cohort")): ("parentName", "a Cohort names its parent in parentName"),
    ("AdmissionCheck", ("spec", "retryDelayMinutes")): (
        "",
        "it has had no effect since 0.8 and does not exist in v1beta2",
    ),
    ("MultiKueueCluster", ("spec", "kubeConfig")): ("clusterSource.kubeConfig", "v1beta2 has it under clusterSource"),
    ("MultiKueueCluster", ("spec", "clusterProfileRef")): (
        "clusterSource.clusterProfileRef",
        "v1beta2 has it under clusterSource",
    ),
    ("MultiKueueCluster", ("spec", "clusterSource")): ("kubeConfig", "v1beta1 has kubeConfig directly under spec"),
    ("MultiKueueConfig", ("spec", "quotaManagement")): ("", "v1beta2 has it, from release 0.18 on"),
    ("Workload", ("spec", "priorityClassName")): (
        "priorityClassRef",
        "v1beta2 has priorityClassRef {group, kind, name}",
    ),
    ("Workload", ("spec", "priorityClassSource")): (
        "priorityClassRef",
        "v1beta2 has priorityClassRef {group, kind, name}",
    ),
    ("Workload", ("spec", "priorityClassRef")): (
        "priorityClassName",
        "v1beta1 has priorityClassName and priorityClassSource",
    ),
    ("WorkloadPriorityClass", ("spec",)): ("", "a WorkloadPriorityClass has no spec: value is a top-level field"),
    ("WorkloadPriorityClass", ("globalDefault",)): (
        "",
        "only a PriorityClass has globalDefault; from release 0.20 the class named default is the default",
    ),
    ("ResourceFlavor", ("labels",)): ("spec.nodeLabels", "a flavor lists the labels of its nodes in spec.nodeLabels"),
    ("ResourceFlavor", ("taints",)): ("spec.nodeTaints", "a flavor lists the taints of its nodes in spec.nodeTaints"),
    ("ResourceFlavor", ("spec", "topology")): ("topologyName", "the field is topologyName"),
    ("ResourceFlavor", ("spec", "taints")): ("nodeTaints", "the field is nodeTaints"),
    ("ResourceFlavor", ("spec", "nodeSelector")): (
        "nodeLabels",
        "a flavor lists the labels of its nodes in nodeLabels",
    ),
}
"""(kind, route of names) -> the new name ("" if there is none) and an explanation.

An entry whose name stays the same applies only if the object's version does not have the field.
"""


def renamed(kind: str, names: Names) -> tuple[str, str] | None:
    return RENAMED.get((kind, names))
