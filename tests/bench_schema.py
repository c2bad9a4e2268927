"""5,000 ClusterQueues against the ClusterQueue schema: our closures, all of our checks, and jsonschema on the same schema.

    python tests/bench_schema.py ours | checks | jsonschema
    python tests/bench_schema.py write FOLDER

Prints the CPU seconds that the judging alone took; `make bench` runs each in a fresh process. Or writes the schemas of all
kinds that `make bench` makes up, for other validators to use.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import bench_inputs

from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.schema.catalogue import KUEUE, described
from qcheck.kinds.schema.published import json_schema, kueue_schema
from qcheck.kinds.validate import validate
from qcheck.kinds.validation.target import Target

MANY = 5_000
RELEASE = (0, 19)


def queue(at: int) -> str:
    cells = "".join(
        f"\n        - {{name: {name}, nominalQuota: {amount}, borrowingLimit: {amount}}}"
        for name, amount in (("cpu", "96"), ("memory", f"{at % 512 + 1}Gi"), ("nvidia.com/gpu", "8"))
    )
    flavors = "".join(f"\n      - name: flavor-{n}\n        resources:{cells}" for n in range(2))
    return (
        f"apiVersion: {KUEUE}/v1beta2\nkind: ClusterQueue\nmetadata:\n  name: queue-{at}\nspec:\n  cohortName: research\n"
        "  namespaceSelector: {}\n  preemption:\n    reclaimWithinCohort: Any\n  resourceGroups:\n"
        f"    - coveredResources: [cpu, memory, nvidia.com/gpu]\n      flavors:{flavors}\n"
    )


def judges(way: str) -> Callable[[object], object]:
    if way == "checks":
        target = Target(RELEASE)
        return lambda document: validate(root(document), target)  # type: ignore[arg-type]
    if way == "ours":
        found = described(KUEUE, "v1beta2", "ClusterQueue", RELEASE)
        assert found is not None
        return lambda document: found.check(document.data)  # type: ignore[attr-defined]
    from jsonschema import Draft202012Validator

    validator = Draft202012Validator(kueue_schema("ClusterQueue", "v1beta2", RELEASE))
    return lambda document: list(validator.iter_errors(document.data))  # type: ignore[attr-defined]


def main(way: str) -> None:
    documents = load("---\n".join(map(queue, range(MANY))), "queues.yaml").documents
    judge = judges(way)
    gc.disable()
    start = time.process_time()
    refused = sum(bool(judge(document)) for document in documents)
    print(time.process_time() - start)
    assert len(documents) == MANY
    assert refused == 0


def write(folder: Path) -> None:
    """A schema per kind; of kinds that are not described one that anything fits."""
    folder.mkdir(exist_ok=True)
    for group, version, kind in bench_inputs.KINDS:
        found = described(group, version, kind, RELEASE)
        schema = {"type": "object"} if found is None else json_schema(found)
        (folder / f"{kind.lower()}.json").write_text(json.dumps(schema))


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(Path(sys.argv[2]))
    else:
        main(sys.argv[1])
