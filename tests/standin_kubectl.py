"""A stand-in for kubectl: lists the objects of `cluster.json` beside it and writes down how it was called."""

from __future__ import annotations

import json
import stat
import sys
from pathlib import Path
from typing import Any

PLURALS = {"Topology": "topologies", "Policy": "policies", "ClusterQueue": "clusterqueues"}


def install(folder: Path, objects: list[dict[str, Any]], **state: Any) -> Path:
    """Puts the stand-in into a folder, to be put on the PATH. `state`: `forbidden` kinds, `broken` with a message."""
    folder.mkdir(exist_ok=True)
    (folder / "cluster.json").write_text(json.dumps({"objects": objects, **state}))
    path = folder / "kubectl"
    path.write_text(f"#!{sys.executable}\n{Path(__file__).read_text()}\nmain(Path(__file__).resolve().parent)\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return folder


def plural(kind: str) -> str:
    low = kind.lower()
    return PLURALS.get(kind, low + "es" if low.endswith("s") else low + "s")


def main(here: Path) -> None:
    words = sys.argv[1:]
    with open(here / "calls.txt", "a", encoding="utf-8") as log:
        log.write(" ".join(words) + "\n")
    state = json.loads((here / "cluster.json").read_text())
    if state.get("broken"):
        sys.exit(state["broken"])
    kinds = {(o["apiVersion"], o["kind"]) for o in state["objects"]} | {
        ("v1", "Pod"),
        ("v1", "Node"),
        ("v1", "ConfigMap"),
    }
    if words[0] == "api-resources":
        print("\n".join(f"{plural(kind)}  short  {version}  true  {kind}" for version, kind in sorted(kinds)))
        return
    group = {plural(k) + (f".{v.partition('/')[0]}" if "/" in v else ""): (v, k) for v, k in kinds}
    version, kind = group[words[1]]
    if kind in state.get("forbidden", []):
        sys.exit(f'Error from server (Forbidden): {words[1]} is forbidden: User "a" cannot list resource "{words[1]}"')
    name = words[2] if not words[2].startswith("-") else None
    found = [o for o in state["objects"] if (o["apiVersion"], o["kind"]) == (version, kind)]
    found = [o for o in found if name is None or o["metadata"]["name"] == name]
    if name is None:
        print(json.dumps({"kind": "List", "apiVersion": "v1", "items": found}))
    elif found:
        print(json.dumps(found[0]))
