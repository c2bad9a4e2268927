"""The repository and commit of a report."""

from __future__ import annotations

import os
import re

from qcheck.findings.result import Checkout
from qcheck.sources.git import GitError, commit, differs, origin_of, root_of

_REMOTE = re.compile(r"(?:(?:https?|ssh|git)://(?:[^/@]*@)?|[^/@:]+@)([\w.-]+)(?::\d+)?[:/](.+?)(?:\.git)?/?")
"""`https://TOKEN@host/owner/name.git` or `git@host:owner/name.git`, with groups for the host and for owner and name."""


def checkout(path: str) -> Checkout | None:
    """Return the repository that contains `path`; None if there is none or git cannot answer."""
    try:
        root = root_of(path)
        head, is_changed = commit("HEAD", root), differs(root)
    except GitError:
        return None
    remote = _REMOTE.fullmatch(origin_of(root))
    if remote is None:
        return Checkout(repository=os.path.basename(root), commit=head, url="", is_changed=is_changed)
    host, name = remote.groups()
    commits = "commits" if "bitbucket" in host else "commit"
    return Checkout(repository=name, commit=head, url=f"https://{host}/{name}/{commits}/{head}", is_changed=is_changed)
