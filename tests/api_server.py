"""A real API server for tests: etcd and kube-apiserver as ordinary processes on ports of their own, and kubectl.

They are looked for on the PATH and in the folder that the variable QCHECK_KUBERNETES names. Tests that need them are
skipped without them.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

TOOLS = ("etcd", "kube-apiserver", "kubectl")
ADMIN, AUDITOR = "admin-token", "auditor-token"
PATIENCE = 120
"""Seconds until the server has to be ready."""


def find_tools() -> dict[str, str]:
    """The programs that are needed, by name; fewer where some are not installed."""
    path = os.pathsep.join(filter(None, (os.environ.get("QCHECK_KUBERNETES"), os.environ.get("PATH"))))
    return {tool: found for tool in TOOLS if (found := shutil.which(tool, path=path))}


class Server:
    """A running API server; `kubectl` is called as its administrator."""

    def __init__(self, tools: dict[str, str], folder: Path, port: int) -> None:
        self.tools, self.folder, self.port = tools, folder, port
        self.audit_log = folder / "audit.log"

    def kubeconfig(self, token: str = ADMIN) -> Path:
        path = self.folder / f"{token}.kubeconfig"
        cluster = {"server": f"https://127.0.0.1:{self.port}", "insecure-skip-tls-verify": True}
        path.write_text(
            json.dumps(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "test",
                    "clusters": [{"name": "test", "cluster": cluster}],
                    "users": [{"name": "test", "user": {"token": token}}],
                    "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
                }
            )
        )
        return path

    def kubectl(self, *words: str, stdin: str | None = None) -> str:
        command = [self.tools["kubectl"], f"--kubeconfig={self.kubeconfig()}", *words]
        done = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False, timeout=PATIENCE)
        assert done.returncode == 0, f"kubectl {' '.join(words)}: {done.stderr}"
        return done.stdout

    def apply(self, *objects: dict[str, Any]) -> None:
        listed = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        self.kubectl("apply", "--server-side", "--force-conflicts", "--filename=-", stdin=json.dumps(listed))

    def set_status(self, kind: str, name: str, status: dict[str, Any]) -> None:
        patch = json.dumps({"status": status})
        self.kubectl("patch", kind, name, "--subresource=status", "--type=merge", f"--patch={patch}")

    def requests(self) -> list[dict[str, Any]]:
        """What was asked of the server, by its audit log."""
        return [json.loads(line) for line in self.audit_log.read_text().splitlines()]


@contextmanager
def api_server(tools: dict[str, str], folder: Path) -> Iterator[Server]:
    """Starts etcd and the API server, and stops both at the end."""
    etcd_port, peer_port, port = _free_ports(3)
    (folder / "tokens.csv").write_text(f'{ADMIN},admin,1,"system:masters"\n{AUDITOR},auditor,2,"auditors"\n')
    (folder / "audit.yaml").write_text(
        json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]})
    )
    key = folder / "service-account.key"
    subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
    etcd = [
        tools["etcd"],
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls=http://127.0.0.1:{etcd_port}",
        f"--advertise-client-urls=http://127.0.0.1:{etcd_port}",
        f"--listen-peer-urls=http://127.0.0.1:{peer_port}",
        "--unsafe-no-fsync",
    ]
    server = [
        tools["kube-apiserver"],
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        f"--cert-dir={folder / 'certificates'}",
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--token-auth-file={folder / 'tokens.csv'}",
        "--authorization-mode=RBAC",
        f"--audit-policy-file={folder / 'audit.yaml'}",
        f"--audit-log-path={folder / 'audit.log'}",
        "--disable-admission-plugins=ServiceAccount",
        "--service-account-issuer=https://qcheck.test",
        f"--service-account-key-file={key}",
        f"--service-account-signing-key-file={key}",
        "--service-cluster-ip-range=10.0.0.0/24",
    ]
    with _running(etcd, folder / "etcd.log"), _running(server, folder / "server.log") as process:
        made = Server(tools, folder, port)
        _wait_until_ready(made, process)
        yield made


@contextmanager
def _running(command: list[str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    with open(log, "wb") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            yield process
        finally:
            process.terminate()


def _wait_until_ready(server: Server, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        done = subprocess.run(
            [server.tools["kubectl"], f"--kubeconfig={server.kubeconfig()}", "get", "--raw=/readyz"],
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            return
        time.sleep(0.5)
    raise AssertionError(f"the API server did not start: {(server.folder / 'server.log').read_text()[-2000:]}")


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports: list[int] = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
