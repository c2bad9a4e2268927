"""Charts of known software, which define no nodes or queues."""

from __future__ import annotations

import re

OTHER_CHARTS = re.compile(
    r"(?i)(?:gpu-operator|nvidia-.*|amd-gpu.*|network-operator|node-feature-discovery|kueue|volcano|kai-scheduler|jobset|lws"
    r"|ingress-nginx|nginx.*|traefik|cert-manager.*|external-.*|cluster-autoscaler|karpenter|karpenter-crd|metrics-server|keda"
    r"|prometheus.*|kube-prometheus.*|.*grafana.*|loki.*|tempo|dcgm.*|datadog.*|fluent.*|opentelemetry.*|argo.*|flux.*|velero"
    r"|istio.*|base|istiod|kyverno.*|gatekeeper|.*-csi-.*|.*csi-driver.*|aws-.*|azure-.*|kuberay.*|ray-.*|training-operator"
    r"|mpi-operator|jupyterhub|mlflow|airflow|minio.*|postgres.*|redis.*|vault.*|cilium|calico|tigera.*|metallb|rook.*"
    r"|longhorn.*|aibrix.*|vllm.*|triton.*|spark-operator|slurm.*|slinky.*|kubecost|opencost|reloader|descheduler|local-path.*)"
)
"""Charts of software that runs on nodes."""


def is_software(chart: str) -> bool:
    """Return whether a chart, named without its registry, installs known software."""
    return OTHER_CHARTS.fullmatch(chart) is not None
