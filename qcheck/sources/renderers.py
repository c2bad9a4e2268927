"""The output of the installed kustomize and helm for a directory.

They run without network access (proxies that lead nowhere, git restricted to files), without plugins, within a time
limit, and with nothing of the caller's environment except the search path.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from functools import partial
from time import monotonic

from qcheck.sources.files import Content, NotLoaded
from qcheck.sources.program import kill, started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO, Literal

    RenderTool = Literal["kustomize", "helm"]

NOWHERE = "http://127.0.0.1:9"
"""The discard port: every attempt to use the network fails at once."""
OFFLINE = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"), NOWHERE),
    "NO_PROXY": "",
    "GIT_ALLOW_PROTOCOL": "file",
    "GIT_TERMINAL_PROMPT": "0",
    "HELM_NO_PLUGINS": "1",
    "LC_ALL": "C",
}
LOOK_EVERY = 0.2
"""Seconds between checks of the output's size."""
LONGEST_COMPLAINT = 10_000
PASSED_ON = ("PATH", "SYSTEMROOT", "TMPDIR", "TEMP")


def render(
    tool: RenderTool,
    folder: str,
    values: Sequence[str],
    release: str | None,
    namespace: str | None,
    seconds: int,
    most_bytes: int,
    within: str = ".",
) -> Content | NotLoaded:
    """Return the output of `tool` for a directory.

    `values`, `release` and `namespace` are helm's. Relative paths are relative to `within`. Output larger than
    `most_bytes` is returned with one byte more than that, or not at all.
    """
    folder = folder.replace(os.sep, "/")
    name = f"{tool}:{folder}"
    if not os.path.isdir(os.path.join(within, folder)):
        return NotLoaded(name, "there is no such directory")
    command = _helm(folder, values, release, namespace) if tool == "helm" else _kustomize(folder)
    if command is None:
        return NotLoaded(
            name, "helm is not installed" if tool == "helm" else "neither kustomize nor kubectl is installed"
        )
    return _run(name, command, seconds, most_bytes, within)


def installed(tool: RenderTool) -> bool:
    """Return whether a program on the search path can render for `tool`; kubectl can for kustomize."""
    return any(shutil.which(each) for each in ((tool, "kubectl") if tool == "kustomize" else (tool,)))


def _kustomize(folder: str) -> list[str] | None:
    if shutil.which("kustomize"):
        return ["kustomize", "build", "--", folder]
    return ["kubectl", "kustomize", "--", folder] if shutil.which("kubectl") else None


def _helm(chart: str, values: Sequence[str], release: str | None, namespace: str | None) -> list[str] | None:
    """Return the command `helm template`, which contacts no cluster; the chart's dependencies must be vendored.

    Values from the settings are never options: some of helm's options run programs.
    """
    if not shutil.which("helm"):
        return None
    command = ["helm", "template", "--skip-tests", *(f"--values={path}" for path in values)]
    command += [f"--namespace={namespace}"] if namespace else []
    return [*command, "--", release or "release-name", chart]


def _run(name: str, command: list[str], seconds: int, most_bytes: int, within: str) -> Content | NotLoaded:
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        environment = {key: os.environ[key] for key in PASSED_ON if key in os.environ} | OFFLINE
        environment |= {"HOME": home, "HELM_PLUGINS": home, "KUBECONFIG": os.devnull}
        start: partial[subprocess.Popen[bytes]] = partial(
            subprocess.Popen,
            command,
            cwd=within,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=errors,
            env=environment,
            start_new_session=True,
        )
        with started(start) as process:
            too_much = _wait(process, seconds, (output, errors), most_bytes)
            if too_much:
                kill(process)
                return NotLoaded(name, f"{command[0]} {too_much}")
        errors.seek(0)
        if process.returncode:
            return NotLoaded(name, f"{command[0]} failed: {_complaint(errors.read(LONGEST_COMPLAINT))}")
        output.seek(0)
        return Content(name, output.read(most_bytes + 1))


def _wait(process: subprocess.Popen[bytes], seconds: int, written: Sequence[IO[bytes]], most_bytes: int) -> str | None:
    """Wait for the end; return which limit the process exceeded if it has to be stopped."""
    until = monotonic() + seconds
    while True:
        try:
            process.wait(min(LOOK_EVERY, max(0.0, until - monotonic())))
        except subprocess.TimeoutExpired:
            if monotonic() >= until:
                return f"took longer than {seconds} s"
            if any(os.fstat(file.fileno()).st_size > most_bytes for file in written):
                return f"wrote more than {most_bytes:,} bytes"
        else:
            return None


def _complaint(output: bytes) -> str:
    """Return the renderer's output without empty lines."""
    lines = (line.rstrip() for line in output.decode("utf-8", "replace").splitlines())
    return "\n".join(line for line in lines if line) or "it printed no message"
