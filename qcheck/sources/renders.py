"""What kustomize and helm make of a directory, as the user has them installed.

They run without network (proxies that lead nowhere, no git protocol but files), without plugins, in the time allowed, and
with none of the caller's environment but the search path.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile

from qcheck.sources.files import Content, NotRead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

NOWHERE = "http://127.0.0.1:9"
"""The discard port: whatever wants the network is refused at once."""
OFFLINE = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"), NOWHERE),
    "NO_PROXY": "",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_TERMINAL_PROMPT": "0",
    "HELM_NO_PLUGINS": "1",
    "LC_ALL": "C",
}
PASSED_ON = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP")


def render(
    tool: str,
    folder: str,
    values: Sequence[str],
    release: str | None,
    namespace: str | None,
    seconds: int,
    within: str = ".",
) -> Content | NotRead:
    """What `tool` ("kustomize" or "helm") makes of a directory. `values`, `release` and `namespace` are helm's.

    Relative paths are taken from the directory `within`.
    """
    folder = folder.replace(os.sep, "/")
    name = f"{tool}:{folder}"
    if not os.path.isdir(os.path.join(within, folder)):
        return NotRead(name, "there is no such directory")
    command = _helm(folder, values, release, namespace) if tool == "helm" else _kustomize(folder)
    if command is None:
        return NotRead(
            name, "helm is not installed" if tool == "helm" else "neither kustomize nor kubectl is installed"
        )
    return _run(name, command, seconds, within)


def _kustomize(folder: str) -> list[str] | None:
    if shutil.which("kustomize"):
        return ["kustomize", "build", folder]
    return ["kubectl", "kustomize", folder] if shutil.which("kubectl") else None


def _helm(chart: str, values: Sequence[str], release: str | None, namespace: str | None) -> list[str] | None:
    """`helm template` asks no cluster; charts that this one depends on must be vendored."""
    if not shutil.which("helm"):
        return None
    command = ["helm", "template", release or "release-name", chart, "--skip-tests"]
    command += ["--namespace", namespace] if namespace else []
    return command + [word for path in values for word in ("--values", path)]


def _run(name: str, command: list[str], seconds: int, within: str) -> Content | NotRead:
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as output:
        environment = {key: os.environ[key] for key in PASSED_ON if key in os.environ} | OFFLINE
        environment |= {"HOME": home, "HELM_PLUGINS": home, "KUBECONFIG": os.devnull}
        with subprocess.Popen(
            command,
            cwd=within,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.PIPE,
            env=environment,
            start_new_session=True,
        ) as process:
            try:
                _, complaint = process.communicate(timeout=seconds)
            except BaseException as error:
                _kill(process)
                if isinstance(error, subprocess.TimeoutExpired):
                    return NotRead(name, f"{command[0]} took longer than {seconds} s")
                raise
        if process.returncode:
            return NotRead(name, f"{command[0]} failed: {_first_line(complaint)}")
        output.seek(0)
        return Content(name, output.read())


def _kill(process: subprocess.Popen[bytes]) -> None:
    """With all that it started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def _first_line(complaint: bytes) -> str:
    lines = complaint.decode("utf-8", "replace").strip().splitlines()
    return lines[0][:300] if lines else "it said nothing"
