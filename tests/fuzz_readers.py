"""What `make fuzz` does with broken input to single readers, and what each of them promises."""

from __future__ import annotations

import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from mutations import Case
from test_settings_quick import plain, same

from qcheck.cluster.place import Place
from qcheck.cluster.quantity import QuantityError, parse_quantity
from qcheck.documents.cursor import Cursor, root
from qcheck.documents.limits import Limits
from qcheck.documents.load import load
from qcheck.documents.text import NotText, Text, decode
from qcheck.kinds.shared_fields import label_selector, node_selection, taints, tolerations
from qcheck.kinds.validation import selectors
from qcheck.nodepools.pool import PoolContext
from qcheck.nodepools.terraform.read import read_configurations
from qcheck.settings import SettingsError
from qcheck.settings.load import load_settings
from qcheck.sources.files import SUFFIXES

Span = tuple[int, int, int, int]


class Target(NamedTuple):
    """Something to do with a repository, by chance in one of several ways, if it has files with one of the endings."""

    run: Callable[[Case, random.Random], None]
    endings: tuple[str, ...] = SUFFIXES


class Broken(Exception):
    """Something that must hold for any input did not."""


def lines_of(raw: bytes) -> int:
    """At least as many as a file has, however its lines end."""
    return raw.count(b"\n") + raw.count(b"\r") + 1


@contextmanager
def laid_out(case: Case) -> Iterator[None]:
    """The files of a case, in the working directory."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, raw in case.items():
            try:
                os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
                Path(name).write_bytes(raw)
            except (NotADirectoryError, FileExistsError, IsADirectoryError):
                continue  # another file has the name of its directory
        yield


def loader(case: Case, dice: random.Random) -> None:
    """Every fault stands in its file, and every value has a place."""
    for name, raw in case.items():
        loaded = load(raw, name, Limits(bytes=200_000))
        for fault in loaded.faults:
            for spot in (fault.spot, *(spot for _, spot in fault.related)):
                in_file(spot.span(), raw, fault)
        for document in loaded.documents:
            places(document.data, (), document.span, raw)
        for comment in loaded.comments("qcheck"):
            in_file(comment.spot.span(), raw, comment)


def places(value: object, route: tuple[str | int, ...], span: Callable[..., Span], raw: bytes) -> None:
    in_file(span(route), raw, route)
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in inner:
        places(below, (*route, step), span, raw)


def in_file(span: Span, raw: bytes, what: object) -> None:
    line, column, end_line, end_column = span
    if not (1 <= line <= end_line <= lines_of(raw) and column >= 1 and (end_line, end_column) >= (line, column)):
        raise Broken(f"{what} has no place in its file: {span}")


SUFFIX = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
POWER = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}


def quantity(case: Case, dice: random.Random) -> None:
    """Every line of the file: read exactly, or refused; and its canonical form means the same."""
    for text in b"\n".join(case.values()).decode("utf-8", "replace").split("\n"):
        try:
            found = parse_quantity(text)
        except QuantityError:
            continue
        match = re.fullmatch(r"([+-]?[0-9]*\.?[0-9]*)(?:[eE]([+-]?[0-9]+)|([A-Za-z]*))", text)
        if match is None:
            raise Broken(f"{text!r} is read as a quantity")
        number, exponent, suffix = match.groups()
        power = int(exponent or SUFFIX.get(suffix, 0)) if number.strip("+-0.") else 0  # 0e9999999 is 0
        power = max(power, -len(text) - 9)  # anything smaller is rounded up to one nano-unit, too
        factor = Fraction(1024) ** POWER[suffix] if suffix in POWER else Fraction(10) ** power
        exact = abs(Fraction(number.rstrip(".") or 0) * factor) * 10**9
        nanos = min(ceil(exact), (2**63 - 1) * 10**9) if suffix in POWER else ceil(exact)
        if abs(found.nanos) != nanos or (nanos and (found.nanos < 0) != text.startswith("-")):
            raise Broken(f"{text!r} is {found.nanos} nano-units, not {nanos}")
        again = parse_quantity(found.canonical)
        if (again.nanos, again.canonical) != (found.nanos, found.canonical):
            raise Broken(f"{text!r} has the canonical form {found.canonical!r}, which is another value")


def selectors_and_taints(case: Case, dice: random.Random) -> None:
    """What the API server takes matches as kube-scheduler and the label selector would have it."""
    for name, raw in case.items():
        for document in load(raw, f"{name}.yaml").documents:
            at = root(document)
            if not is_judged(at):
                continue
            for labels in at["labels"].items():
                _labels(at, labels.strings())
            _taints(at)


def is_judged(at: Cursor) -> bool:
    """Whether everything in the document has the type that it should have, and the API server takes it."""
    spec = at["spec"]
    faults = [*selectors.label_selector(at["selector"], ""), *selectors.affinity(spec["affinity"], "")]
    return is_typed(at.data) and not faults and not [*selectors.tolerations(spec["tolerations"], "")]


REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
LISTS = ("labels", "taints", "matchExpressions", "matchFields", "nodeSelectorTerms", "tolerations", "values")
MAPS = ("selector", "matchLabels", "spec", "nodeSelector", "affinity", "nodeAffinity", REQUIRED)
KINDS = {**dict.fromkeys(LISTS, list), **dict.fromkeys(MAPS, dict)}


def is_typed(value: object, of: type = dict) -> bool:
    """Whether a value is a mapping of what its keys ask for, which is text where they are not in `KINDS`."""
    if not isinstance(value, dict):
        return of is str and isinstance(value, str)
    return of is dict and all(
        all(is_typed(each, str if key == "values" else dict) for each in inner)
        if isinstance(inner, list) and KINDS.get(key) is list
        else is_typed(inner, KINDS.get(key, str))
        for key, inner in value.items()
    )


def _labels(at: Cursor, labels: dict[str, str]) -> None:
    selector = label_selector(at["selector"])
    data: Any = at.data
    if selector is not None and selector.matches(labels) != holds(data["selector"], labels, "matchLabels"):
        raise Broken(f"{selector} matches {labels} wrongly")
    spec = data.get("spec", {})
    found = node_selection(at["spec"]).matches(labels, "n1")
    required: Any = at["spec"]["affinity"]["nodeAffinity"][REQUIRED].data
    fitting = required is None or any(
        (t.get("matchExpressions") or t.get("matchFields"))
        and holds(t, labels)
        and holds({"matchExpressions": t.get("matchFields")}, {"metadata.name": "n1"})
        for t in required.get("nodeSelectorTerms", ())
    )
    chosen = {key: spec[key] for key in ("nodeSelector",) if key in spec}  # other keys of a spec select nothing
    if found != (holds(chosen, labels, "nodeSelector") and fitting):
        raise Broken(f"{spec} matches {labels} wrongly")


def holds(selector: Any, labels: dict[str, str], exact: str = "") -> bool:
    """Whether labels satisfy the expressions (and the map of labels) of plain data, told in another way than qcheck does."""
    wanted = selector.get(exact) or {}
    return wanted.items() <= labels.items() and all(
        _expression(each.get("key", ""), each.get("operator", ""), each.get("values") or [], labels)
        for each in selector.get("matchExpressions") or []
    )


def _expression(key: str, operator: str, values: list[str], labels: dict[str, str]) -> bool:
    if operator in ("Gt", "Lt"):
        numbers = [labels.get(key, ""), *values]
        if not all(re.fullmatch("[+-]?[0-9]+", n) and -(2**63) <= int(n) < 2**63 for n in numbers):
            return False
        return (int(numbers[0]) > int(numbers[1])) is (operator == "Gt") and int(numbers[0]) != int(numbers[1])
    return {
        "In": key in labels and labels[key] in values,
        "NotIn": not (key in labels and labels[key] in values),
        "Exists": key in labels,
        "DoesNotExist": key not in labels,
    }.get(operator, False)


def _taints(at: Cursor) -> None:
    spec = at["spec"]
    for taint in taints(at["taints"]):
        for toleration in tolerations(spec["tolerations"]):
            if toleration.operator in ("Gt", "Lt"):
                continue
            same = toleration.operator == "Exists" or toleration.value == taint.value
            wanted = toleration.key in ("", taint.key) and toleration.effect in ("", taint.effect) and same
            if toleration.tolerates(taint) != wanted:
                raise Broken(f"{toleration} tolerates {taint} wrongly")


def hcl(case: Case, dice: random.Random) -> None:
    """Terraform files by themselves: pools and problems that stand in the files."""
    texts = []
    for name, raw in case.items():
        try:
            texts.append(Text(name, decode(raw)))
        except NotText:
            continue
    pools, problems = read_configurations([t for t in texts if t.path.endswith(HCL)], PoolContext({}))
    for place in (*(p.place for p in pools), *(p.count_place for p in pools), *(p.place for p in problems)):
        placed(place, case)
    if any(pool.minimum < 0 or (pool.maximum or 0) < 0 for pool in pools):
        raise Broken("a pool of fewer than no nodes")


def placed(place: Place, case: Case) -> None:
    in_file(place.span, case[place.origin.path], place)


HCL = (".tf", ".tfvars", ".tf.json")
SETTINGS = ("qcheck.yaml", "pyproject.toml")


def settings(case: Case, dice: random.Random) -> None:
    """Settings, or a refusal that names file and line; and the quick way to them leads where the long one does."""
    for name in [n for n in case if n in SETTINGS]:
        with laid_out({name: case[name]}):
            try:
                load_settings(".", name)
                if name.endswith(".yaml"):
                    same(plain(decode(case[name])))
            except SettingsError as error:
                for problem in error.problems:
                    line = re.match(rf"{re.escape(name)}:(\d+): ", problem)
                    if not line or int(line[1]) > lines_of(case[name]):
                        raise Broken(f"settings refused without a line: {problem}") from None


TARGETS = {
    "loader": Target(loader),
    "quantity": Target(quantity, (".quantity",)),
    "selectors": Target(selectors_and_taints, (".selectors",)),
    "hcl": Target(hcl, HCL),
    "settings": Target(settings, SETTINGS),
}
