"""Damaging manifests: the ways in which files go wrong in repositories, and the ways in which somebody would try."""

from __future__ import annotations

import random
import re
from pathlib import Path

Case = dict[str, bytes]
"""The files of a small repository by their paths."""
LARGEST = 200_000
"""The maximum size of a damaged case in bytes."""

VALUES = [
    "",
    "null",
    "[]",
    "{}",
    "- a",
    "-1",
    "0",
    "y",
    "~",
    "1e400",
    "1e-400",
    "0." + "0" * 60 + "1",
    "9223372036854775807",
    "9223372036854775808",
    "1" * 5000,
    "8Ei",
    "1E",
    "64m",
    "0.5",
    "1_000",
    "!!binary aGk=",
    "!!int x",
    "&a [*a]",
    "*nobody",
    "'{{ .Values.x }}'",
    "${x}",
    '"\\e[31mred\\e[0m\\a"',
    '"</script><img src=x onerror=alert(1)>"',
    '"::error file=x::y%0A::set-output name=a::b"',
    '"a\\nb\\r::warning::c"',
    "'| a | `b` | [c](http://x)'",
    "[[[[]]]]",
    "{a: {b: {c: [1, {d: e}]}}}",
    "|\n      text",
    "x" * 3000,
    "\u202e\u2066\ufeff\u00a0",
    "2001-01-01",
    "1:30",
    ".inf",
    "kueue.x-k8s.io/v1beta2",
    "true",
    "nvidia.com/gpu",
]
"""What may stand where something else is meant."""

PIECES = [b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\r", b"\t", b"---\n", b"...\n", b"<<: *a\n", b"%YAML 1.2\n", b"\xc3"]
PIECES += [b"{", b"}", b"[", b"]", b": ", b"- ", b"#", b'"', b"'", b"|", b">", b"&a ", b"*a", b"!!x ", b"\xe2\x80\xa8"]
PIECES += [
    b"# qcheck: ignore[QC101]\n",
    b"# qcheck: ignore[QC1] x until=2000-01-01\n",
    b"${",
    b"{{ x }}",
    b"{% if x %}\n",
]


NAMES = [
    "a\n::error::b",
    "\x1b[31mred",
    "<img src=x onerror=alert(1)>",
    "a](http:x)`|<b>",
    "\udcff",
    "\u202egnp",
    "-o",
    " ",
    "%0A%s{x}${y}",
    "*?[!a]#",
    "'\"\\&;$(x)",
    "n" * 200,
    "folder.yaml/a",
    "a,b=c:d",
    "kustomization",
    "values",
    "templates/x",
    "terraform.tfvars",
]
"""What files are called by those who mean no good; the ending follows."""

IGNORED = [
    b"*\n",
    b"!*.yaml\n",
    b"[a-\n",
    b"\\\n",
    b"**/**/**/x\n",
    b"*a*a*a*a*a*a*a*a*b\n",
    b"\xff\0\n",
    b"!\n/\n//\n",
]
"""Lines of a .gitignore."""

SEEDS: list[Case] = [
    {"some.quantity": b"1.5Gi\n100m\n1e3\n.5\n-1\n12E\n0.000000000001Ki\n8Ei\n1E6\n1.\n"},
    {
        "some.selectors": b"""\
labels:
- {gpu: h100, size: "5", zone: a}
- {gpu: a100, size: "05"}
- {}
taints:
- {key: gpu, value: h100, effect: NoSchedule}
- {key: size, value: "5", effect: NoExecute}
- {key: zone, effect: PreferNoSchedule}
selector:
  matchLabels: {gpu: h100}
  matchExpressions:
  - {key: size, operator: In, values: ["5", "6"]}
  - {key: zone, operator: Exists}
  - {key: zone, operator: NotIn, values: [b]}
  - {key: other, operator: DoesNotExist}
spec:
  nodeSelector: {gpu: h100}
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchExpressions:
          - {key: size, operator: Gt, values: ["4"]}
          - {key: size, operator: Lt, values: ["6"]}
        - matchFields:
          - {key: metadata.name, operator: In, values: [n1]}
  tolerations:
  - {key: gpu, operator: Equal, value: h100, effect: NoSchedule}
  - {key: size, operator: Exists}
"""
    },
    {
        "pyproject.toml": b"""\
[project]
name = "a"

[tool.qcheck]
version = 1
kueue = "0.19"
[tool.qcheck.clusters.a]
include = ["a/**"]
[tool.qcheck.capacity]
autoscaled = "max"
reserves = [{pools = ["h100"], total = {"nvidia.com/gpu" = 8}, reason = "debug"}]
[[tool.qcheck.shapes]]
name = "trainer"
requests = {"nvidia.com/gpu" = 8, cpu = "90"}
flavors = ["h100"]
"""
    },
]
"""For targets that read something else than whole repositories."""


def read_case(top: Path) -> Case:
    """Return the files of a folder, without those that leave no room for damage."""
    found = (p for p in sorted(top.rglob("*")) if p.is_file() and p.suffix != ".md")
    return {str(p.relative_to(top)): p.read_bytes() for p in found if p.stat().st_size < LARGEST // 4}


def damaged_case(case: Case, dice: random.Random) -> Case:
    """The files with one or two of them damaged; now and then one has another name, is missing, or is there twice."""
    case = dict(case)
    if not case:
        return case
    for name in dice.sample(list(case), min(len(case), dice.choice((1, 1, 2)))):
        case[name] = damaged(case[name], dice)
    way, name = dice.randrange(40), dice.choice(list(case))
    if way < 3:
        case[_other_name(name, dice)] = case[name] if way == 0 else case.pop(name)
    elif way == 3 and len(case) > 1:
        del case[name]
    elif way == 4:
        case[".gitignore"] = case.get(".gitignore", b"") + dice.choice(IGNORED)
    return case


def _other_name(name: str, dice: random.Random) -> str:
    ending = re.search(r"((?<=/)|^)(qcheck\.yaml|pyproject\.toml)$|\.[^/]*$|$", name)
    return dice.choice(NAMES) + (ending[0] if ending else "")


MANY = 30_000
"""Bytes of what there is too much of."""


def damaged(raw: bytes, dice: random.Random) -> bytes:
    """The bytes of a file with one to four things wrong with it."""
    for _ in range(dice.choice((1, 1, 2, 4))):
        raw = dice.choice(WAYS)(raw, dice)
    return _many(raw, dice) if dice.random() < 0.005 else raw


def _many(raw: bytes, dice: random.Random) -> bytes:
    """A line, a document, an item or a number of brackets thousands of times: what takes long shows only then."""
    lines = raw.split(b"\n")
    at = dice.randrange(len(lines))
    way = dice.randrange(4)
    if way == 0:
        lines[at] = (lines[at] + b"\n") * (MANY // (len(lines[at]) + 1) + 1)
    elif way == 1:
        return (raw + b"\n---\n") * (MANY // (len(raw) + 5) + 1)
    elif way == 2:
        lines[at] = lines[at].partition(b":")[0] + b": [" + b"a, " * (MANY // 3) + b"]"
    else:
        lines[at] = lines[at].partition(b":")[0] + b": {" + b", ".join(b"k%d: 1" % n for n in range(MANY // 9)) + b"}"
    return b"\n".join(lines)


def _value(raw: bytes, dice: random.Random) -> bytes:
    """Another value for a key, or in a list."""
    lines = raw.split(b"\n")
    at = dice.randrange(len(lines))
    match = re.match(rb"(\s*(?:- )?[^:\s]+:|\s*-) ?", lines[at])
    if match:
        lines[at] = match[0] + dice.choice(VALUES).encode()
    return b"\n".join(lines)


def _piece(raw: bytes, dice: random.Random) -> bytes:
    at = dice.randrange(len(raw) + 1)
    return raw[:at] + dice.choice(PIECES) + raw[at + dice.randrange(4) :]


def _line(raw: bytes, dice: random.Random) -> bytes:
    """A line gone, doubled, moved or indented otherwise."""
    lines = raw.split(b"\n")
    at, to = dice.randrange(len(lines)), dice.randrange(len(lines))
    way = dice.randrange(4)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(to, lines[at])
    elif way == 2:
        lines[at], lines[to] = lines[to], lines[at]
    else:
        lines[at] = b" " * dice.randrange(9) + lines[at].lstrip()
    return b"\n".join(lines)


def _bytes(raw: bytes, dice: random.Random) -> bytes:
    """A byte changed, or the rest of the file gone."""
    if not raw:
        return raw
    at = dice.randrange(len(raw))
    return raw[:at] if dice.random() < 0.2 else raw[:at] + bytes([dice.randrange(256)]) + raw[at + 1 :]


def _number(raw: bytes, dice: random.Random) -> bytes:
    """Another size for a number."""
    found = list(re.finditer(rb"\d+", raw))
    if not found:
        return raw
    match = dice.choice(found)
    other = dice.choice(
        [b"0", b"-1", b"1", b"7", b"1000000", b"9223372036854775807", b"99999999999999999999999", b"0.5"]
    )
    return raw[: match.start()] + other + raw[match.end() :]


def _name(raw: bytes, dice: random.Random) -> bytes:
    """One word of the file where another one stood."""
    words = list(re.finditer(rb"[A-Za-z][\w./-]{2,}", raw))
    if not words:
        return raw
    gone, other = dice.choice(words), dice.choice(words)
    return raw[: gone.start()] + other[0] + raw[gone.end() :]


WAYS = (_value, _value, _value, _number, _name, _line, _line, _piece, _bytes)
