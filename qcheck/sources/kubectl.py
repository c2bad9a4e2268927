"""The objects of a cluster, as listed by the user's own kubectl.

Only two command lines are ever run, without a shell: `kubectl api-resources`, which lists what is installed, and
`kubectl get` for the kinds in the tables below. Secrets are not among them, and ConfigMaps are requested by name.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from qcheck.cluster.value import Value
from qcheck.sources.files import LIVE, NotLoaded
from qcheck.sources.program import started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    Object = dict[str, object]
    Watch = Callable[[str, int, int], None]

AT_ONCE = 4
"""The number of lists requested at a time."""
SECONDS = 120
"""The time limit of one request, in seconds."""
SECONDS_TO_BEGIN = 40
"""The time limit, in seconds, for kubectl to list what is installed; a login prompt or a dead server exceeds it."""
PAGE = 500
LONGEST_COMPLAINT = 300
_NOISE = re.compile(r"^[EWI]\d{4} \d\d:\d\d:\d\d")
"""Log lines of kubectl's libraries; kubectl's message to the user follows them."""


class Asked(Value):
    """One kind to list, with a field selector if not all objects are needed."""

    group: str
    kind: str
    fields: str = ""


def _kinds(group: str, *kinds: str) -> tuple[Asked, ...]:
    return tuple(Asked(group, kind) for kind in kinds)


CONFIGURATION: tuple[Asked, ...] = (
    *_kinds("", "Namespace", "Node", "LimitRange", "ResourceQuota"),
    *_kinds("scheduling.k8s.io", "PriorityClass"),
    *_kinds("node.k8s.io", "RuntimeClass"),
    *_kinds("apps", "DaemonSet"),
    *_kinds(
        "kueue.x-k8s.io",
        "ClusterQueue",
        "LocalQueue",
        "ResourceFlavor",
        "Cohort",
        "Topology",
        "AdmissionCheck",
        "ProvisioningRequestConfig",
        "WorkloadPriorityClass",
        "MultiKueueCluster",
        "MultiKueueConfig",
    ),
    *_kinds("scheduling.run.ai", "Queue"),
    *_kinds("kai.scheduler", "SchedulingShard", "Topology", "Config"),
    *_kinds("scheduling.volcano.sh", "Queue"),
    *_kinds("topology.volcano.sh", "HyperNode"),
    *_kinds("trainer.kubeflow.org", "TrainingRuntime", "ClusterTrainingRuntime"),
    *_kinds("kyverno.io", "Policy", "ClusterPolicy"),
    *_kinds("nvidia.com", "ClusterPolicy"),
    *_kinds("karpenter.sh", "NodePool"),
    *_kinds("karpenter.k8s.aws", "EC2NodeClass"),
    *_kinds("eks.amazonaws.com", "NodeClass"),
    *_kinds("karpenter.azure.com", "AKSNodeClass"),
    *_kinds("karpenter.k8s.gcp", "GCENodeClass"),
    *_kinds("machine.openshift.io", "MachineSet"),
    *_kinds("autoscaling.openshift.io", "MachineAutoscaler"),
    *_kinds("compute.coreweave.com", "NodePool"),
    *_kinds("cloud.google.com", "ComputeClass"),
)
"""Configured kinds. Pools that describe the machines of other clusters (Cluster API, Crossplane) are excluded."""
WORK: tuple[Asked, ...] = (
    *_kinds("", "Pod"),
    Asked("", "Event", "reason=FailedScheduling"),
    *_kinds("apps", "Deployment", "StatefulSet", "ReplicaSet"),
    *_kinds("batch", "Job", "CronJob"),
    *_kinds("kueue.x-k8s.io", "Workload"),
    *_kinds("jobset.x-k8s.io", "JobSet"),
    *_kinds("ray.io", "RayCluster", "RayJob", "RayService"),
    *_kinds(
        "kubeflow.org",
        "PyTorchJob",
        "TFJob",
        "XGBoostJob",
        "PaddleJob",
        "JAXJob",
        "MPIJob",
    ),
    *_kinds("trainer.kubeflow.org", "TrainJob"),
    *_kinds("workload.codeflare.dev", "AppWrapper"),
    *_kinds("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
    *_kinds("autoscaling", "HorizontalPodAutoscaler"),
    *_kinds("keda.sh", "ScaledObject"),
    *_kinds("sparkoperator.k8s.io", "SparkApplication"),
    *_kinds("scheduling.run.ai", "PodGroup"),
    *_kinds("scheduling.volcano.sh", "PodGroup"),
    *_kinds("batch.volcano.sh", "Job", "CronJob"),
    *_kinds("flow.volcano.sh", "JobFlow", "JobTemplate"),
)
"""Kinds that run or wait to run."""
EVERYTHING = (*CONFIGURATION, *WORK)
CONFIG_MAPS = (("kueue-system", "kueue-manager-config"), ("volcano-system", "volcano-scheduler-configmap"))
"""Namespace and name of the schedulers' settings in a default installation."""
MANAGER = "kueue-manager-config"
CONFIG_MAP = "ConfigMap"


class Listed(Value):
    """The objects of a cluster by kind, and the kinds that could not be listed."""

    objects: dict[str, list[Object]]
    failed: tuple[NotLoaded, ...] = ()


class KubectlRefused(Exception):
    """kubectl did not answer; the message is its own."""


def list_cluster(context: str, wanted: Sequence[Asked], watch: Watch) -> Listed:
    """Return every object of the installed kinds among `wanted` in the cluster of a context ("": the current one)."""
    watch("ask", 0, 0)
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        return Listed({}, (NotLoaded(LIVE, "kubectl is not installed: --live needs it on the PATH"),))
    call = _Kubectl(kubectl, context)
    try:
        installed, incomplete = call.installed()
    except KubectlRefused as refusal:
        return Listed({}, (NotLoaded(LIVE, str(refusal)),))
    here = [a for a in wanted if (a.group, a.kind) in installed]
    failed = [
        NotLoaded(f"{LIVE}:{a.kind}", incomplete[a.group]) for a in wanted if a.group in incomplete and a not in here
    ]
    objects: dict[str, list[Object]] = {}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            answers = pool.map(lambda a: call.tried(a, installed[a.group, a.kind]), here)
            for done, (asked, answer) in enumerate(zip(here, answers, strict=True)):
                watch("ask", done, len(here))
                if isinstance(answer, NotLoaded):
                    failed.append(answer)
                else:
                    objects.setdefault(asked.kind, []).extend(answer)
        except BaseException:  # a signal, which only this thread receives
            call.stop()
            raise
    maps, refused = call.config_maps(sorted(_managers(objects) | set(CONFIG_MAPS)))
    return Listed({**objects, CONFIG_MAP: maps}, (*failed, *refused))


def _managers(objects: dict[str, list[Object]]) -> set[tuple[str, str]]:
    """Return the namespace and ConfigMap of a Kueue manager outside the default namespace, from its Deployment."""
    return {
        (str(metadata.get("namespace")), MANAGER)
        for each in objects.get("Deployment", ())
        if isinstance(metadata := each.get("metadata"), dict)
        and isinstance(labels := metadata.get("labels") or {}, dict)
        and labels.get("app.kubernetes.io/name") == "kueue"
    }


class _Kubectl:
    """The kubectl command, with the arguments common to all calls."""

    def __init__(self, path: str, context: str) -> None:
        self.path = path
        self.hangs = ""
        """The reason why no further requests are made: one that timed out."""
        self.running: list[subprocess.Popen[str]] = []
        self.common = [f"--request-timeout={SECONDS}s", *([f"--context={context}"] if context else [])]

    def installed(self) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
        """Return the resource name of each group and kind that can be listed, and why some groups did not answer.

        Raises `KubectlRefused`.
        """
        done = self._run(["api-resources", "--verbs=list", "--no-headers"], SECONDS_TO_BEGIN)
        rows = [row for line in done.stdout.splitlines() if len(row := line.split()) >= 4]
        if done.returncode and not rows:
            raise KubectlRefused(_complaint(done.stderr))
        found = {}
        for name, *_, version, _, kind in rows:
            group = version.rpartition("/")[0]
            found[group, kind] = f"{name}.{group}" if group else name
        if ("", "Node") not in found:
            raise KubectlRefused("kubectl api-resources lists no nodes, which every cluster has: is this kubectl?")
        why = _complaint(done.stderr) if done.returncode else ""
        return found, {a.group: why for a in EVERYTHING if a.group and f"{a.group}/" in why}

    def tried(self, asked: Asked, resource: str) -> list[Object] | NotLoaded:
        """Return every object of one kind, in all namespaces."""
        selector = [f"--field-selector={asked.fields}"] if asked.fields else []
        try:
            found = self._get([resource, "--all-namespaces", f"--chunk-size={PAGE}", *selector])
            if not isinstance(found, dict) or not isinstance(found.get("items"), list):
                raise KubectlRefused(f"kubectl get {resource} did not return a list of objects")
        except KubectlRefused as refusal:
            return NotLoaded(f"{LIVE}:{asked.kind}", str(refusal))
        return list(_items(found))

    def config_maps(self, named: Iterable[tuple[str, str]]) -> tuple[list[Object], list[NotLoaded]]:
        """Return the existing ConfigMaps among some namespaces and names."""
        found: list[Object] = []
        refused: list[NotLoaded] = []
        for namespace, name in named:
            try:
                answer = self._get(["configmaps", name, f"--namespace={namespace}", "--ignore-not-found"])
            except KubectlRefused as refusal:
                refused.append(NotLoaded(f"{LIVE}:{CONFIG_MAP}", str(refusal)))
            else:
                found += _items(answer)
        return found, refused

    def stop(self) -> None:
        """End the requests that are under way, and make no further ones."""
        self.hangs = "the run was stopped"
        for process in tuple(self.running):
            process.kill()

    def _get(self, words: list[str]) -> object:
        done = self._run(["get", *words, "--output=json"])
        if done.returncode:
            raise KubectlRefused(_complaint(done.stderr))
        if not done.stdout.strip():
            return None
        try:
            return json.loads(done.stdout)
        except (ValueError, RecursionError) as error:
            raise KubectlRefused(f"kubectl get {words[0]} did not return JSON: {error}") from None

    def _run(self, words: list[str], seconds: int | None = None) -> subprocess.CompletedProcess[str]:
        seconds = seconds or 2 * SECONDS
        if self.hangs:
            raise KubectlRefused(self.hangs)
        start = partial(
            subprocess.Popen,
            [self.path, *words, *self.common],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
        )
        try:
            with started(start) as process:
                self.running.append(process)
                if self.hangs:  # since this request began
                    raise KubectlRefused(self.hangs)
                output, errors = process.communicate(timeout=seconds)
                self.running.remove(process)
                return subprocess.CompletedProcess(words, process.returncode, output, errors)
        except subprocess.TimeoutExpired:
            self.hangs = f"kubectl {words[0]} did not answer within {seconds} s"
            raise KubectlRefused(self.hangs) from None
        except OSError as error:
            raise KubectlRefused(f"kubectl cannot be started: {error.strerror or error}") from None


def _items(answer: object) -> Iterator[Object]:
    if isinstance(answer, dict) and isinstance(answer.get("items"), list):
        yield from (item for item in answer["items"] if isinstance(item, dict))
    elif isinstance(answer, dict):
        yield answer


def _complaint(text: str) -> str:
    """Return kubectl's message to the user, on one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _NOISE.match(line)]
    return " ".join(lines)[:LONGEST_COMPLAINT] or "kubectl failed without a message"
