"""Small manifests that many tests need: a flavor of nodes labelled `gpu: h100`, a queue with quota in it, a local queue."""

from __future__ import annotations

FLAVOR = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {gpu: h100}}
"""


def cluster_queue(quotas: object, name: str = "team") -> str:
    """A queue with a number of GPUs, or with amounts by resource, each on one line."""
    amounts = quotas if isinstance(quotas, dict) else {"nvidia.com/gpu": quotas}
    cells = ", ".join(f"{{name: {resource}, nominalQuota: {amount}}}" for resource, amount in amounts.items())
    return f"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
    - coveredResources: [{", ".join(amounts)}]
      flavors: [{{name: h100, resources: [{cells}]}}]
"""


def cluster_queue_by_lines(gpus: object, name: str = "research") -> str:
    """A queue whose number of GPUs has a line of its own, for tests that edit it."""
    return f"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: h100
      resources:
      - name: nvidia.com/gpu
        nominalQuota: {gpus}
"""


def local_queue(namespace: str, name: str = "main", queue: str = "team") -> str:
    return f"""\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{clusterQueue: {queue}}}
"""
