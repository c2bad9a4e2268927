"""A tree at a revision, read through git: no checkout is modified, nothing is fetched, no hook runs."""

from __future__ import annotations

import io
import os
import subprocess
import tempfile
from contextlib import contextmanager

from qcheck.sources.files import (
    GO_MODULES,
    OF_OTHERS,
    SKIPPED,
    Content,
    Found,
    NotLoaded,
    may_hold_manifests,
    repository,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SECONDS = 120
"""The time limit of one git command, in seconds."""
LISTING = GO_MODULES[1]
FILE_MODES = ("100644", "100755")
QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_PAGER": "cat",
    "LC_ALL": "C",
}


class GitError(Exception):
    """Git could not answer. The message is for users; `hint` says what to do."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


def root_of(path: str = ".") -> str:
    """Return the root of the git repository that contains `path`. Raises `GitError`."""
    root = repository(os.path.realpath(path))
    if root is None:
        raise GitError(f"{path} is not in a git repository", "run it inside one, or compare two directories")
    return root


def commit(revision: str, root: str) -> str:
    """Return the id of the commit that a branch, tag or other name refers to. Raises `GitError`."""
    try:
        return _git(root, "rev-parse", "--verify", "--quiet", f"{_safe(revision)}^{{commit}}").decode().strip()
    except GitError:
        hint = "fetch it first; in CI, check out with the full history (actions/checkout: `fetch-depth: 0`)"
        raise GitError(f"git has no commit {revision!r}", hint) from None


def origin_of(root: str) -> str:
    """Return the URL of the remote `origin`; empty without one."""
    try:
        return _git(root, "config", "--get", "remote.origin.url").decode("utf-8", "replace").strip()
    except GitError:
        return ""


def differs(root: str) -> bool:
    """Return whether tracked files differ from the commit that is checked out. Raises `GitError`."""
    return bool(_git(root, "status", "--porcelain", "--untracked-files=no").strip())


def merge_base(one: str, other: str, root: str) -> str:
    """Return the merge base of two revisions. Raises `GitError` if there is none."""
    try:
        return _git(root, "merge-base", commit(one, root), commit(other, root)).decode().strip()
    except GitError as error:
        raise GitError(f"{one} and {other} have no commit in common", error.hint) from None


def discover(revision: str, paths: Iterable[str], root: str) -> Found:
    """Return the files under `paths` (relative to the working directory) at `revision`. Raises `GitError`.

    The same files count as in a working tree, except that all are tracked, so none is ignored.
    """
    below = [os.path.relpath(os.path.realpath(path), root).replace(os.sep, "/") for path in paths]
    chosen: dict[str, str] = {}
    not_read: list[NotLoaded] = []
    entries = list(_entries(commit(revision, root), root))
    copies = tuple(
        path[: -len(LISTING)] for _, _, path in entries if f"/{path}".endswith(f"/{GO_MODULES[0]}/{LISTING}")
    )
    for mode, object_id, path in entries:
        if not _is_chosen(path, below) or (path.startswith(copies) and path not in below):
            continue
        if mode in FILE_MODES:
            chosen[path] = object_id
        elif mode == "160000":
            not_read.append(NotLoaded(_shown(path, root), "a submodule", failed=False))
    contents = _contents(list(chosen.values()), root)
    blobs = [Content(_shown(path, root), contents[object_id]) for path, object_id in chosen.items()]
    return Found(sorted(blobs, key=lambda blob: blob.path), not_read)


@contextmanager
def laid_out(revision: str, root: str) -> Iterator[str]:
    """Provide the files of a revision in a temporary directory, for programs that need files.

    Links that lead out of it are omitted. Raises `GitError`.
    """
    import tarfile  # 1.1 ms

    def kept(member: tarfile.TarInfo, path: str) -> tarfile.TarInfo | None:
        try:
            return tarfile.data_filter(member, path)
        except tarfile.FilterError:
            return None

    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(_git(root, "archive", "--format=tar", commit(revision, root)))) as archive:
            archive.extractall(folder, filter=kept)
        yield folder


def _entries(at: str, root: str) -> Iterator[tuple[str, str, str]]:
    """Yield mode, object id and path of every entry of a commit."""
    for line in _git(root, "ls-tree", "-r", "-z", "--full-tree", at).split(b"\0"):
        if line:
            head, _, path = line.partition(b"\t")
            mode, _, object_id = head.decode().split(" ")
            yield mode, object_id, path.decode("utf-8", "surrogateescape")


def _is_chosen(path: str, below: list[str]) -> bool:
    """Return whether a path of the tree is selected: by its own name, or by one of its folders and its file type."""
    if path in below:
        return True
    return may_hold_manifests(path) and any(_is_inside(path, top) for top in below)


def _is_inside(path: str, top: str) -> bool:
    """Return whether a path is below a folder, in no directory that is skipped there."""
    folder = "" if top == "." else f"{top}/"
    steps = path.removeprefix(folder).split("/")[:-1]
    return path.startswith(folder) and not any(step in SKIPPED or step in OF_OTHERS for step in steps)


def _contents(object_ids: list[str], root: str) -> dict[str, bytes]:
    """Return the bytes of each object."""
    if not object_ids:
        return {}
    answer = _git(root, "cat-file", "--batch", given="".join(f"{one}\n" for one in object_ids).encode())
    found: dict[str, bytes] = {}
    at = 0
    for object_id in object_ids:
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split(b" ")[2])
        found[object_id] = answer[end + 1 : end + 1 + size]
        at = end + 1 + size + 1
    return found


def _shown(path: str, root: str) -> str:
    """Return a path of the tree as displayed to users, relative to the working directory."""
    return os.path.relpath(os.path.join(root, path)).replace(os.sep, "/")


def _safe(revision: str) -> str:
    if not revision or revision.startswith("-") or any(ch.isspace() or ch == "\0" for ch in revision):
        raise GitError(f"{revision!r} is not a commit")
    return revision


def _git(root: str, *arguments: str, given: bytes | None = None) -> bytes:
    command = ["git", "-C", root, "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", *arguments]
    try:
        done = subprocess.run(
            command, input=given, capture_output=True, timeout=SECONDS, check=False, env={**os.environ, **QUIET}
        )
    except FileNotFoundError:
        raise GitError("git is not installed", "install it, or compare two directories") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"git {arguments[0]} took longer than {SECONDS} seconds") from None
    if done.returncode:
        raise GitError(done.stderr.decode("utf-8", "replace").strip() or f"git {arguments[0]} failed")
    return done.stdout
