"""Made-up repositories for `make bench`: the sizes of real ones, the same bytes on every run."""

from __future__ import annotations

import json
import os
from random import Random
from typing import Any

KUEUE = "kueue.x-k8s.io/v1beta2"
KINDS = [("", "v1", "Namespace"), ("", "v1", "ConfigMap"), ("batch", "v1", "Job"), ("qcheck.dev", "v1", "NodePool")]
KINDS += [("kueue.x-k8s.io", "v1beta2", kind) for kind in ("ClusterQueue", "LocalQueue", "ResourceFlavor", "Cohort")]
"""Group, version and kind of all that `documents` makes."""


def flavor(at: int) -> str:
    return f"""\
apiVersion: {KUEUE}
kind: ResourceFlavor
metadata:
  name: flavor-{at}
spec:
  nodeLabels:
    example.com/pool: pool-{at}
  tolerations:
  - key: nvidia.com/gpu
    operator: Exists
    effect: NoSchedule
"""


def cohort(at: int, parent: int | None) -> str:
    above = f"  parentName: cohort-{parent}\n" if parent is not None else "  fairSharing:\n    weight: 1\n"
    return f"apiVersion: {KUEUE}\nkind: Cohort\nmetadata:\n  name: cohort-{at}\nspec:\n{above}"


def queue(at: int, cohorts: int, flavors: int, gpus: int = 8) -> str:
    """A queue of some 45 lines, in one of the cohorts, with quota in two flavors."""
    groups = "".join(
        f"""\
    - name: flavor-{(at + step) % flavors}
      resources:
      - name: "nvidia.com/gpu"
        nominalQuota: {gpus}
        borrowingLimit: {gpus}
      - name: "cpu"
        nominalQuota: "{gpus * 24}"
      - name: "memory"
        nominalQuota: {gpus * 240}Gi
"""
        for step in range(min(2, flavors))
    )
    return f"""\
# The queue of team {at}.
apiVersion: {KUEUE}
kind: ClusterQueue
metadata:
  name: team-{at}
  labels:
    owner: "team-{at}"
spec:
  cohortName: cohort-{at % cohorts}
  namespaceSelector:
    matchLabels:
      kubernetes.io/metadata.name: team-{at}
  queueingStrategy: BestEffortFIFO
  preemption:
    reclaimWithinCohort: Any
    withinClusterQueue: LowerPriority
    borrowWithinCohort:
      policy: Never
  flavorFungibility:
    whenCanBorrow: TryNextFlavor
    whenCanPreempt: TryNextFlavor
  resourceGroups:
  - coveredResources: ["nvidia.com/gpu", "cpu", "memory"]
    flavors:
{groups}"""


def local_queue(at: int) -> str:
    return (
        f"apiVersion: {KUEUE}\nkind: LocalQueue\nmetadata:\n  name: main\n  namespace: team-{at}\n"
        f"spec:\n  clusterQueue: team-{at}\n"
    )


def namespace(at: int) -> str:
    return (
        f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: team-{at}\n"
        f"  labels:\n    kubernetes.io/metadata.name: team-{at}\n"
    )


def job(at: int, queues: int) -> str:
    """A Job of some 80 lines with a shell script, in the namespace of a queue."""
    settings = "".join(
        f"        - name: {name}\n          value: {value}\n"
        for name, value in (
            ("NCCL_DEBUG", "WARN"),
            ("NCCL_SOCKET_IFNAME", "eth0"),
            ("OMP_NUM_THREADS", '"8"'),
            ("DATA", f"s3://datasets.example.com/team-{at % queues}/{at}"),
            ("CHECKPOINTS", f"/checkpoints/{at}"),
            ("TOKENIZERS_PARALLELISM", '"false"'),
        )
    )
    return f"""\
apiVersion: batch/v1
kind: Job
metadata:
  name: train-{at}
  namespace: team-{at % queues}
  labels:
    kueue.x-k8s.io/queue-name: main
    app.kubernetes.io/part-of: training
spec:
  parallelism: 1
  completions: 1
  backoffLimit: 3
  template:
    metadata:
      labels:
        app: train-{at}
    spec:
      restartPolicy: Never
      tolerations:
      - key: nvidia.com/gpu
        operator: Exists
        effect: NoSchedule
      containers:
      - name: main
        image: registry.example.com/training:{at}
        command: ["/bin/bash", "-c"]
        args:
        - |
          set -euo pipefail
          echo "run {at} of $HOSTNAME"
          exec torchrun --nproc-per-node=1 train.py
        env:
        - name: RUN
          value: "{at}"
{settings}\
        - name: POD_NAME
          valueFrom:
            fieldRef:
              fieldPath: metadata.name
        volumeMounts:
        - name: checkpoints
          mountPath: /checkpoints
        - name: shared-memory
          mountPath: /dev/shm
        securityContext:
          allowPrivilegeEscalation: false
          capabilities:
            drop: ["ALL"]
        resources:
          requests:
            nvidia.com/gpu: 1
            cpu: "8"
            memory: 64Gi
          limits:
            nvidia.com/gpu: 1
            memory: 64Gi
      volumes:
      - name: checkpoints
        persistentVolumeClaim:
          claimName: checkpoints-{at % 7}
      - name: shared-memory
        emptyDir:
          medium: Memory
          sizeLimit: 16Gi
"""


def config_map(at: int) -> str:
    """Something that a repository holds and qcheck has no use for."""
    lines = "".join(f"    setting-{line} = {at * line}\n" for line in range(60))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings-{at}\ndata:\n  app.conf: |\n{lines}"


def pool(at: int, nodes: int) -> str:
    return f"""\
apiVersion: qcheck.dev/v1
kind: NodePool
metadata:
  name: pool-{at}
spec:
  count: {nodes}
  labels:
    example.com/pool: pool-{at}
  taints:
  - key: nvidia.com/gpu
    value: present
    effect: NoSchedule
  allocatable:
    cpu: "192"
    memory: 1920Gi
    pods: 110
    nvidia.com/gpu: 8
"""


def node(at: int, pools: int) -> dict[str, Any]:
    """A Node as `kubectl get nodes` prints it, some 110 lines as YAML."""
    address = f"10.{at // 65536}.{at // 256 % 256}.{at % 256}"
    sizes: dict[str, Any] = {"cpu": "192", "ephemeral-storage": "1042126780Ki", "memory": "2113372308Ki", "pods": "110"}
    conditions = [("MemoryPressure", "False"), ("DiskPressure", "False"), ("PIDPressure", "False"), ("Ready", "True")]
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": f"node-{at:05}",
            "uid": f"00000000-0000-4000-8000-{at:012}",
            "resourceVersion": str(900000 + at),
            "creationTimestamp": "2026-05-01T08:00:00Z",
            "annotations": {
                "node.alpha.kubernetes.io/ttl": "0",
                "volumes.kubernetes.io/controller-managed-attach-detach": "true",
                "csi.volume.kubernetes.io/nodeid": f'{{"csi.example.com":"i-{at:08}"}}',
            },
            "labels": {
                "beta.kubernetes.io/arch": "amd64",
                "example.com/pool": f"pool-{at % pools}",
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": f"node-{at:05}",
                "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": "gpu-8x",
                "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
                "topology.kubernetes.io/region": "north",
                "topology.kubernetes.io/zone": f"north-{at % 3}",
            },
        },
        "spec": {
            "podCIDR": f"{address}/24",
            "providerID": f"example:///north/i-{at:08}",
            "taints": [{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}],
        },
        "status": {
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": f"node-{at:05}"}],
            "allocatable": {**sizes, "cpu": "191", "memory": "2001372308Ki", "nvidia.com/gpu": "8"},
            "capacity": {**sizes, "nvidia.com/gpu": "8"},
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "reason": f"Kubelet{kind}",
                    "message": f"kubelet reports {kind}",
                    "lastHeartbeatTime": "2026-05-02T08:00:00Z",
                    "lastTransitionTime": "2026-05-01T08:00:00Z",
                }
                for kind, status in conditions
            ],
            "images": [
                {"names": [f"registry.example.com/image-{n}@sha256:{n:064}", f"registry.example.com/image-{n}:v1"]}
                | {"sizeBytes": 123456789 + n}
                for n in range(8)
            ],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": f"10000000-0000-4000-8000-{at:012}",
                "containerRuntimeVersion": "containerd://2.1.0",
                "kernelVersion": "6.8.0-1024",
                "kubeletVersion": "v1.34.1",
                "machineID": f"{at:032}",
                "operatingSystem": "linux",
                "osImage": "Ubuntu 24.04.2 LTS",
            },
        },
    }


def documents(count: int) -> list[str]:
    """A cluster of `count` documents without a finding worth failing for: queues, namespaces, jobs and other things."""
    flavors, queues = 4, max(1, count // 10)
    made = [flavor(at) for at in range(flavors)] + [pool(at, queues * 2) for at in range(flavors)]
    made += [cohort(0, None), *(cohort(at, 0) for at in range(1, 4))]
    for at in range(queues):
        made += [queue(at, 4, flavors), local_queue(at), namespace(at)]
    at = 0
    while len(made) < count:
        made.append(config_map(at) if at % 5 == 4 else job(at, queues))
        at += 1
    return made[:count]


def repository(folder: str, count: int, files: int) -> None:
    """`documents(count)` spread over so many files."""
    made = documents(count)
    for at in range(files):
        place = os.path.join(folder, f"team-{at % 20}")
        os.makedirs(place, exist_ok=True)
        write(os.path.join(place, f"part-{at}.yaml"), "---\n".join(made[at::files]))


def node_dump(folder: str, count: int, pools: int = 4) -> None:
    """The same nodes as nodes.yaml and nodes.json."""
    from plain_yaml import written

    items = [node(at, pools) for at in range(count)]
    write(
        os.path.join(folder, "nodes.json"), json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, indent=4)
    )
    body = "".join("- " + written(item).replace("\n", "\n  ").rstrip(" ") for item in items)
    write(os.path.join(folder, "nodes.yaml"), "apiVersion: v1\nkind: List\nitems:\n" + body)


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


IGNORED = (
    "# editors and tools\n*.swp\n.idea/\n__pycache__/\n*.py[cod]\n/build\n.terraform/\n*.tfstate*\n!example.tfstate\n"
)
FEW_SETTINGS = "version: 1\ncapacity:\n  autoscaled: min\n"
ALL_SETTINGS = """\
version: 1
kueue: "0.19"
complete: true
clusters:
  prod-a:
    include: ["flavors/**", "jobs/**", "pools/*.yaml", "teams/**", "cohort.yaml"]
capacity:
  autoscaled: max
  reserves:
    - {pools: ["pool-*"], perNode: {cpu: "2"}, reason: agents}
    - {pools: ["pool-0"], total: {nvidia.com/gpu: 8}, reason: debug pods}
  virtualResources: ["aws-ip", "tekton.dev/*"]
shapes:
  - {name: trainer, requests: {nvidia.com/gpu: 8, cpu: "90"}, flavors: [flavor-0], pods: 2}
queues: {reserved: ["team-*"], shared: ["team-9"]}
rules: {ignore: [QC106], severity: {QC205: error}, params: {QC311: {budget: 300s}}}
instanceTypes:
  our.8x: {allocatable: {cpu: "100", memory: 900Gi, nvidia.com/gpu: 8}, accelerator: {model: H100}}
limits: {documents: 1000}
"""
"""The example of the settings' documentation, but for `render`, which needs other programs."""


def small_repository(folder: str, settings: str = "") -> None:
    """Thirty manifests in which nothing is wrong; with `settings`, a settings file and quota beyond the nodes."""
    gpus = 24 if settings else 8
    made = {f"flavors/{at}.yaml": flavor(at) for at in range(2)}
    made |= {f"pools/{at}.yaml": pool(at, 10) for at in range(2)}
    made |= {f"teams/{at}/queue.yaml": queue(at, 1, 2, gpus) for at in range(10)}
    made |= {f"teams/{at}/local.yaml": namespace(at) + "---\n" + local_queue(at) for at in range(10)}
    made |= {f"jobs/{at}.yaml": job(at, 10) for at in range(5)}
    made["cohort.yaml"] = cohort(0, None)
    if settings:
        made["qcheck.yaml"] = settings
    for path, text in made.items():
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        write(os.path.join(folder, path), text)


def fleet(folder: str, queues: int, flavors: int, nodes: int, workloads: int) -> None:
    """A large cluster: a tree of cohorts three levels deep, a dump of its nodes, jobs in its queues."""
    cohorts = 30
    made = [flavor(at) for at in range(flavors)]
    made += [cohort(at, None if at == 0 else (at - 1) // 5) for at in range(cohorts)]
    for at in range(queues):
        made += [queue(at, cohorts, flavors), local_queue(at), namespace(at)]
    made += [job(at, queues) for at in range(workloads)]
    os.makedirs(folder, exist_ok=True)
    write(os.path.join(folder, "queues.yaml"), "---\n".join(made))
    node_dump(folder, nodes, flavors)
    os.remove(os.path.join(folder, "nodes.json"))


def scenario(folder: str, workloads: int, queues: int = 20) -> None:
    """Queues in one cohort that lend to each other, nearly full, and workloads that arrive, preempt and end."""
    random = Random(7)
    every = 105  # seconds between arrivals: about as long as the queues take for one
    cells = "resources: [{name: cpu, nominalQuota: 400}, {name: nvidia.com/gpu, nominalQuota: 32}]"
    flavors = ", ".join(f"{{name: {name}, {cells}}}" for name in ("h100", "a100"))
    objects = [
        *(f"apiVersion: {KUEUE}\nkind: ResourceFlavor\nmetadata: {{name: {name}}}\n" for name in ("h100", "a100")),
        *(
            f"apiVersion: {KUEUE}\nkind: ClusterQueue\nmetadata: {{name: team-{i:02}}}\nspec:\n  cohortName: pool\n"
            "  namespaceSelector: {}\n  preemption: {withinClusterQueue: LowerPriority, reclaimWithinCohort: Any}\n"
            f"  resourceGroups: [{{coveredResources: [cpu, nvidia.com/gpu], flavors: [{flavors}]}}]\n"
            for i in range(queues)
        ),
    ]
    os.makedirs(os.path.join(folder, "cluster"))
    write(os.path.join(folder, "cluster", "queues.yaml"), "---\n".join(objects))
    lines = ["version: 1", "evictionDelay: 60s", "workloads:"]
    for number in range(workloads):
        gpus, queue = random.choice((1, 1, 2, 4, 8, 8, 16)), min(queues - 1, int(random.expovariate(0.2)))
        requests = f"{{cpu: {4 * gpus}, nvidia.com/gpu: {gpus}}}"
        lines.append(
            f"- {{name: w{number:05}, clusterQueue: team-{queue:02}, priority: {random.choice((0, 0, 50, 100))}, "
            f"created: {number * every}, duration: {random.choice(('30m', '1h', '4h', '12h'))}, "
            f"podSets: [{{count: {random.choice((1, 1, 2))}, requests: {requests}}}]}}"
        )
    write(os.path.join(folder, "scenario.yaml"), "\n".join(lines) + "\n")
