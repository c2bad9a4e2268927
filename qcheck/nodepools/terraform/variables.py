"""Values that `.tfvars` files give to the variables of a configuration.

Files that Terraform reads automatically count for certain. Among several others, one is chosen when Terraform runs, so
a variable may have the value in any of them: its value is unknown unless all agree.
"""

from __future__ import annotations

import posixpath

from qcheck.cluster.value import TYPE_CHECKING, Value
from qcheck.documents.composed import Unresolved

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from qcheck.documents.hcl import Expression
    from qcheck.documents.terraform_json import Body
    from qcheck.nodepools.terraform.evaluated import Evaluated

ENDINGS = (".tfvars", ".tfvars.json")
AUTOMATIC = (".auto.tfvars", ".auto.tfvars.json")


class VariableChoice(Value):
    """Possible values of a variable by file (relative to the configuration); under "" if the chosen file sets none.

    None is its default.
    """

    by_file: dict[str, Expression | None]

    def value(self, name: str, evaluated: Callable[[Expression | None], Evaluated]) -> Evaluated:
        """Return the value on which all files agree, else an unresolved value that names the files."""
        found = {file: evaluated(expression) for file, expression in self.by_file.items()}
        first, *others = found.values()
        if all(other == first for other in others):
            return first
        choices = ", ".join(
            f"{_shown(value)} {f'in {file}' if file else 'by default'}" for file, value in found.items()
        )
        return Unresolved(f"var.{name}, which is {choices}")


def choices(folder: str, files: Mapping[str, Body]) -> dict[str, VariableChoice]:
    """Return each variable's values in the files of a configuration in `folder`; automatic files take precedence."""
    names = {path: posixpath.basename(path) for path in files}
    here = [p for p in sorted(files) if (posixpath.dirname(p) or ".") == folder]
    own = [p for p in here if names[p].startswith("terraform.tfvars")] + [
        p for p in here if names[p].endswith(AUTOMATIC)
    ]
    others = [p for p in sorted(files) if p not in own]
    certain = {name: e for path in own for name, e in files[path].attributes().items()}
    if len(others) == 1:
        certain = {**files[others[0]].attributes(), **certain}
        others = []
    found = {name: VariableChoice({"": expression}) for name, expression in certain.items()}
    attributes_of = {path: files[path].attributes() for path in others}
    for name in {name for attributes in attributes_of.values() for name in attributes}:
        by_file: dict[str, Expression | None] = {
            posixpath.relpath(path, folder): attributes[name]
            for path, attributes in attributes_of.items()
            if name in attributes
        }
        if len(by_file) < len(others):
            by_file[""] = certain.get(name)
        found[name] = VariableChoice(by_file)
    return found


def home_of(folder: str, configurations: Collection[str]) -> str | None:
    """Return the directory of the configuration for tfvars files in `folder`: itself, a parent, or a single sibling."""
    above = folder
    while above not in configurations:
        if above in (".", "", "/"):
            parent = posixpath.dirname(folder) or "."
            near = [c for c in configurations if parent == "." or c.startswith(f"{parent}/")]
            return near[0] if len(near) == 1 else None
        above = posixpath.dirname(above) or "."
    return above


def _shown(value: Evaluated) -> str:
    if isinstance(value, Unresolved):
        return value.expression
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) < 40 else f"{text[:39]}…"
