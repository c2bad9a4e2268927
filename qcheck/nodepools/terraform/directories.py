"""Directories with Terraform files: root configurations, and directories that are only called as modules."""

from __future__ import annotations

import posixpath
import re

from qcheck.cluster.place import Place
from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.hcl import HclError
from qcheck.documents.terraform_json import parse_body
from qcheck.documents.text import Spot
from qcheck.nodepools.terraform.configuration import Instance, Module
from qcheck.nodepools.terraform.effort import Effort
from qcheck.nodepools.terraform.unread_sources import MARKS as ELSEWHERE
from qcheck.nodepools.terraform.variables import ENDINGS, home_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from qcheck.documents.text import Text

MARKS = re.compile(
    r"google_container_(?:node_pool|cluster)|aws_eks_node_group|azurerm_kubernetes_cluster|oci_containerengine_node_pool"
    r"|nebius_mk8s_v1_node_group|crusoe_kubernetes_node_pool|ibm_container_vpc_worker_pool|kube(?:rnetes|ctl)_manifest"
    rf"|{ELSEWHERE}"
    r"|terraform-aws-modules/|terraform-aws-eks|kubernetes-engine|/aks/azurerm|terraform-azurerm-aks|/oke/oci|terraform-oci-oke"
)
"""Text that occurs in folders that describe pools."""
LOCAL_SOURCE = re.compile(r"""^[ \t]*"?source"?\s*[=:]\s*"(\.\.?/[^"]*)\"""", re.MULTILINE)


def relevant(texts: Sequence[Text]) -> list[Text]:
    """Return the files of folders that describe pools or call such folders; most HCL concerns other things."""
    folders: dict[str, list[Text]] = {}
    for text in texts:
        folders.setdefault(_folder(text), []).append(text)
    marked = {f for f, inside in folders.items() if any(MARKS.search(t.text) for t in inside)}
    calls = {f: {p for t in inside for p in _literal_callees(f, t)} for f, inside in folders.items()}
    grows = bool(marked)
    while grows:
        more = {f for f, called in calls.items() if f not in marked and called & marked}
        marked |= more
        grows = bool(more)
    return [t for t in texts if _folder(t) in marked or (marked and t.path.endswith(ENDINGS))]


def _folder(text: Text) -> str:
    return posixpath.normpath(posixpath.dirname(text.path) or ".")


def _literal_callees(folder: str, text: Text) -> Iterator[str]:
    for match in LOCAL_SOURCE.finditer(text.text):
        yield posixpath.normpath(posixpath.join(folder, match[1]))


def configurations(texts: Sequence[Text]) -> tuple[list[Instance], list[Problem]]:
    """Return the root modules, ready to yield their resources, and problems for files that are not valid HCL."""
    modules: dict[str, Module] = {}
    problems = []
    chosen = relevant(texts)
    folders = {_folder(t) for t in chosen if not t.path.endswith(ENDINGS)}
    for text in chosen:
        folder = home_of(_folder(text), folders) if text.path.endswith(ENDINGS) else _folder(text)
        if folder is None:
            continue
        try:
            body = parse_body(text)
        except HclError as error:
            problems.append(_syntax(text, error))
            continue
        module = modules.setdefault(folder, Module(folder))
        if text.path.endswith(ENDINGS):
            module.tfvars[text.path] = body
        else:
            module.add(body)
    called = {folder for m in modules.values() for folder in _callees(m)}
    return [
        Instance(module=m, given=None, modules=modules, depth=0, effort=Effort())
        for f, m in modules.items()
        if f not in called
    ], problems


def _callees(module: Module) -> Iterator[str]:
    """Yield the folders of the modules that a module calls, as far as they are literals."""
    for block in module.calls:
        source = block.attributes().get("source")
        path = str(source).strip('"') if source is not None else ""
        if path.startswith(("./", "../")):
            yield posixpath.normpath(posixpath.join(module.folder, path))


def _syntax(text: Text, error: HclError) -> Problem:
    spot = Spot(text, error.offset, min(len(text.text), error.offset + 1))
    return Problem(ProblemCode.YAML_SYNTAX, Place(spot), str(error), "Run `terraform validate`; the file was not read.")
