"""Files with a new text, and writing them over the old ones."""

from __future__ import annotations

import os
import tempfile

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.unified_diff import unified_diff

if TYPE_CHECKING:
    from collections.abc import Sequence


class RewrittenFile(Value):
    """A file that can be rewritten: its path, its text before and after, and the number of changed objects."""

    path: str
    before: str
    after: str
    objects: int

    def diff(self) -> str:
        """Return the change as a unified diff."""
        return unified_diff(self.path, self.before, self.after)


class Unwritten(Value):
    """A file that is left unchanged, and the reason. `is_error`: the file itself cannot be written."""

    path: str
    why: str
    is_error: bool


def write_all(files: Sequence[RewrittenFile]) -> tuple[list[RewrittenFile], list[Unwritten]]:
    """Write files; return the written and the unwritten ones. Identical copies are written together or not at all."""
    errors = {f.path: why for f in files if (why := obstacle(f))}
    copies = {f.before: f.path for f in files if f.path in errors}
    left = [Unwritten(path, why, is_error=True) for path, why in errors.items()]
    written = []
    for fixed in files:
        if fixed.path in errors:
            continue
        if fixed.before in copies:
            left.append(Unwritten(fixed.path, f"its copy {copies[fixed.before]} cannot be rewritten", is_error=False))
            continue
        try:
            write(fixed)
        except OSError as error:
            left.append(Unwritten(fixed.path, _why(error), is_error=True))
        else:
            written.append(fixed)
    return written, left


def obstacle(fixed: RewrittenFile) -> str:
    """Return the reason that a file cannot be rewritten; empty if it can."""
    path = os.path.realpath(fixed.path)
    try:
        _bom_of(path, fixed)
        if not os.access(path, os.W_OK) or not os.access(os.path.dirname(path), os.W_OK):
            return "no permission to write it"
    except OSError as error:
        return _why(error)
    return ""


def _why(error: OSError) -> str:
    return error.strerror or str(error)


def _bom_of(path: str, fixed: RewrittenFile) -> bytes:
    """Return the byte order mark of a file. Raises `OSError` if the file has changed since it was read."""
    with open(path, "rb") as file:
        raw = file.read()
    bom = b"\xef\xbb\xbf" if raw.startswith(b"\xef\xbb\xbf") else b""
    if raw[len(bom) :].decode("utf-8", "replace") != fixed.before:
        raise OSError("it has changed since it was read, or is not UTF-8")
    return bom


def write(fixed: RewrittenFile) -> None:
    """Write a rewritten file over the old one in one step. Raises `OSError`."""
    path = os.path.realpath(fixed.path)
    bom = _bom_of(path, fixed)
    handle, temporary = tempfile.mkstemp(".qcheck", f"{os.path.basename(path)[:100]}.", os.path.dirname(path))
    try:
        with open(handle, "wb") as file:
            file.write(bom + fixed.after.encode())
        os.chmod(temporary, os.stat(path).st_mode)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
