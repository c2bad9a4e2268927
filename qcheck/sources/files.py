"""Discovery of files below the given paths, in a fixed order, and the reasons for skipping others.

A tree is searched for YAML, JSON, Terraform and template files; a path that names a file is read regardless of its
name. Nothing is read twice, and nothing outside the tree (or its git repository) unless a path names it.
"""

from __future__ import annotations

import os
import re
import stat
import sys

from qcheck.sources.gitignore import Ignored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from typing import Protocol

    class Readable(Protocol):
        """A readable file, wherever it is stored."""

        @property
        def path(self) -> str: ...

        def read(self, limit: int) -> bytes: ...


SUFFIXES = (
    ".yaml",
    ".yml",
    ".json",
    ".tf",
    ".tfvars",
    ".j2",
    ".jinja",
    ".jinja2",
    ".tftpl",
    ".tpl",
    ".tmpl",
    ".gotmpl",
)
SKIPPED = frozenset(
    {".git", ".hg", ".svn", ".terraform", ".terragrunt-cache", ".venv", "venv", ".tox", ".nox", "node_modules"}
    | {"__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".pre-commit"}
    | {".github", ".gitlab", ".circleci", ".chainsaw-test", ".devcontainer", ".vscode", ".idea"}
)
"""Tool directories, which never contain manifests."""
OF_OTHERS = {
    "testdata": "test data, which is not deployed: name the directory to check it",
    "versioned_docs": "documentation of older releases: name the directory to check it",
}
"""Directories with manifests that are not deployed (conventions of Go and Docusaurus), with the reason."""
GO_MODULES = ("vendor", "modules.txt")
"""The directory of Go's copies of other projects, and the file that identifies it."""
OTHER_TEXTS = (
    r"\.(?:md|markdown|rst|adoc|txt|html?|sh|bash|py|ps1|ini|conf|toml|service)\.(?:j2|jinja2?|tftpl|tpl|tmpl|gotmpl)"
)
"""Name endings of templates of documents and programs, which may quote manifests."""
WAIT_FOR_A_WRITER = 10
"""The time to wait for a named pipe's writer, in seconds."""
STDIN, STDIN_NAME = "-", "<stdin>"
LIVE = "live"
"""The path prefix of a running cluster: `live`, and `live:KIND` for the objects of a kind."""


class File:
    """A file to read: `path` as displayed (forward slashes, relative to the working directory), `where` to open it."""

    __slots__ = ("path", "where")

    def __init__(self, path: str, where: str) -> None:
        self.path = path
        self.where = where

    def read(self, limit: int) -> bytes:
        """Return its bytes, at most `limit` + 1. Raises `OSError`."""
        if self.where == STDIN:
            return sys.stdin.buffer.read(limit + 1)
        with open(self.where, "rb", buffering=0, opener=_opened) as stream:
            return _all(stream.read, limit + 1)

    def __repr__(self) -> str:
        return f"File({self.path})"


def _opened(path: str, flags: int) -> int:
    """Open a file. A named pipe without a writer is an error instead of an endless wait."""
    if os.name == "nt" or not stat.S_ISFIFO(os.stat(path).st_mode):
        return os.open(path, flags)
    import errno
    import select  # 0.3 ms

    pipe = os.open(path, flags | os.O_NONBLOCK)
    waiter = select.poll()
    waiter.register(pipe, select.POLLIN)
    if not waiter.poll(WAIT_FOR_A_WRITER * 1000) and not _has_writer(pipe):
        os.close(pipe)
        raise OSError(errno.ENODATA, "a named pipe without a writer")
    os.set_blocking(pipe, True)
    return pipe


def _has_writer(empty_pipe: int) -> bool:
    try:
        os.read(empty_pipe, 1)
    except BlockingIOError:
        return True
    return False


class Content:
    """Bytes already in memory (from a revision or a renderer), with the interface of `File`."""

    __slots__ = ("content", "path")

    def __init__(self, path: str, content: bytes) -> None:
        self.path = path
        self.content = content

    def read(self, limit: int) -> bytes:
        """Return its bytes, at most `limit` + 1."""
        return self.content[: limit + 1]

    def __repr__(self) -> str:
        return f"Content({self.path})"


class NotLoaded:
    """A path that was skipped.

    `failed`: it should have been read but could not be, so that its absence proves nothing; otherwise it was skipped on
    purpose.
    """

    __slots__ = ("failed", "path", "why")

    def __init__(self, path: str, why: str, failed: bool = True) -> None:
        self.path = path
        self.why = why
        self.failed = failed

    def __repr__(self) -> str:
        return f"NotLoaded({self.path}: {self.why})"


class Found:
    """The files to read, sorted by path, and the skipped paths."""

    __slots__ = ("files", "not_read")

    def __init__(self, files: Sequence[Readable], not_read: list[NotLoaded]) -> None:
        self.files = files
        self.not_read = not_read


def discover(paths: Iterable[str]) -> Found:
    """Return the files under `paths`, each of which is a directory, a file, or `-` for standard input."""
    search = _FileWalk()
    for path in paths:
        if path == STDIN:
            search.files.setdefault(STDIN, File(STDIN_NAME, STDIN))
        elif os.path.isdir(path):
            search.tree(path)
        elif os.path.lexists(path):
            search.file(path)
        else:
            search.not_read.append(NotLoaded(shown(path), "there is no such file or directory"))
    files = sorted(search.files.values(), key=lambda file: file.path)
    return Found(files, sorted(search.not_read, key=lambda left: left.path))


def is_live(path: str) -> bool:
    """Return whether an input is a running cluster rather than a file."""
    return path.partition(":")[0] == LIVE and not os.path.exists(path)


def may_hold_manifests(name: str) -> bool:
    """Return whether a file of this name is read when a tree is searched."""
    if not name.endswith(SUFFIXES):
        return name == "Kustomization"
    return name.count(".") == 1 or re.search(OTHER_TEXTS, name) is None


def shown(path: str) -> str:
    """Return a path as displayed to users."""
    path = os.path.normpath(path)
    if os.path.isabs(path):
        inside = os.path.relpath(path) if os.path.splitdrive(path)[0] == os.path.splitdrive(os.getcwd())[0] else path
        path = path if inside.startswith("..") else inside
    return path.replace(os.sep, "/")


BLOCK = 1 << 18
"""The maximum number of bytes to request at once, because a read allocates that many in advance."""


def _all(read: Callable[[int], bytes | None], size: int) -> bytes:
    """Read until `size` bytes or the end: a pipe may return fewer bytes than requested."""
    parts: list[bytes] = []
    while size > 0 and (part := read(min(size, BLOCK))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class _FileWalk:
    def __init__(self) -> None:
        self.files: dict[str, File] = {}
        """Files by real path."""
        self.not_read: list[NotLoaded] = []
        self.walked: set[str] = set()
        self.links: list[str] = []

    def tree(self, top: str) -> None:
        real = os.path.realpath(top)
        border = repository(real) or real
        self.links = []
        ignored = Ignored(border, real)
        if ignored.matches(real + "/"):  # a path that names an ignored folder overrides the ignore
            ignored = Ignored(real, real)
        self.walk(top, real, ignored)
        while self.links:
            self.follow(self.links.pop(), border)

    def walk(self, top: str, real: str, ignored: Ignored) -> None:
        """Walk everything below `top`, whose real path is `real`; links are kept for later, so originals come first."""
        ahead = [(top, real, ignored)]
        while ahead:
            directory, real, ignored = ahead.pop()
            if real in self.walked:
                continue
            self.walked.add(real)
            try:
                entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
            except OSError as error:
                self.not_read.append(NotLoaded(shown(directory), reason(error)))
                continue
            if directory != top and _holds_go_modules(directory, entries):
                continue
            ignored = ignored.within(real, any(entry.name == ".gitignore" for entry in entries))
            ahead += reversed([found for entry in entries if (found := self.entry(entry, real, ignored))])

    def entry(self, entry: os.DirEntry[str], real: str, ignored: Ignored) -> tuple[str, str, Ignored] | None:
        """Record a file; return a directory that is still to be walked."""
        name, path = entry.name, os.path.join(real, entry.name)
        if entry.is_symlink():
            if may_hold_manifests(name) or os.path.isdir(entry.path):
                self.links.append(entry.path)
        elif entry.is_dir():
            if name in SKIPPED or ignored.matches(path + "/"):
                return None
            if name not in OF_OTHERS:
                return entry.path, path, ignored
            self.leave_out(entry.path, OF_OTHERS[name])
        elif may_hold_manifests(name) and entry.is_file() and not ignored.matches(path):
            self.files.setdefault(path, File(shown(entry.path), entry.path))
        return None

    def leave_out(self, folder: str, why: str) -> None:
        """Record a directory that is skipped, if it has anything to read."""
        if any(may_hold_manifests(name) for _, _, names in os.walk(folder) for name in names):
            self.not_read.append(NotLoaded(shown(folder), why, failed=False))

    def follow(self, link: str, border: str) -> None:
        """Follow a link, which may lead to a file that was already read but not out of the repository."""
        target = os.path.realpath(link)
        if not os.path.exists(target):
            self.not_read.append(NotLoaded(shown(link), "a link that points to nothing", failed=False))
        elif os.path.commonpath([border, target]) != border:
            self.not_read.append(NotLoaded(shown(link), "a link to outside the tree", failed=False))
        elif os.path.isdir(target):
            self.walk(link, target, Ignored(border, target))
        elif os.path.isfile(target):
            self.files.setdefault(target, File(shown(link), link))

    def file(self, path: str) -> None:
        """Add a file that the user named."""
        if not os.path.exists(path):
            self.not_read.append(NotLoaded(shown(path), "a link that points to nothing"))
        else:
            self.files.setdefault(os.path.realpath(path), File(shown(path), path))


def _holds_go_modules(directory: str, entries: list[os.DirEntry[str]]) -> bool:
    """Return whether a directory contains copies of other projects, with their test data."""
    name, listing = GO_MODULES
    return os.path.basename(directory) == name and any(entry.name == listing for entry in entries)


def repository(real: str) -> str | None:
    """Return the root of the git repository that contains a real path."""
    while True:
        if os.path.exists(os.path.join(real, ".git")):
            return real
        above = os.path.dirname(real)
        if above == real:
            return None
        real = above


def reason(error: OSError) -> str:
    """Return the reason for `NotLoaded.why`."""
    return (error.strerror or type(error).__name__).lower()
