"""Objects with anything anywhere: validating, decoding and rewriting them never raises, and every place can be shown."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from test_checks import cases, merged, repeated, table

from qcheck.documents.cursor import root
from qcheck.documents.load import load
from qcheck.kinds.configuration import decode as decode_configuration
from qcheck.kinds.configuration import find
from qcheck.kinds.decode import decode
from qcheck.kinds.rewrite import with_fixes
from qcheck.kinds.validate import validate
from qcheck.kinds.validation.target import Target

JUNK: list[Any] = [
    None, True, 0, -1, 1.5, "", "x", "1K", "64m", [], {}, [None], [1, "a", {}], {"a": 1}, {"name": None}, "a/b/c", 10**30,
    {"name": "x", "resources": [{"name": "cpu", "nominalQuota": "5"}]},
]  # fmt: skip
MANY = 150


def places(value: Any, route: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if route:
        yield route
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, below in inner:
        yield from places(below, (*route, step))


def spoilt(value: Any, chance: random.Random) -> Any:
    value = copy.deepcopy(value)
    for _ in range(chance.choice([1, 1, 2, 4])):
        *above, last = chance.choice(list(places(value)))
        holder = value
        for step in above:
            holder = holder[step]
        holder[last] = copy.deepcopy(chance.choice(JUNK))
    return value


@pytest.mark.parametrize("seed", range(6))
def test_nothing_raises(seed: int) -> None:
    chance = random.Random(seed)
    changed = [merged(table()["bases"][c["of"]], repeated(c["with"])) for c in cases()]
    small = [v for v in (*table()["bases"].values(), *changed) if len(json.dumps(v)) < 4000]
    for _ in range(MANY):
        text = json.dumps(spoilt(chance.choice(small), chance))
        for document in load(text, "a.json").documents:
            at = root(document)
            for release in ((0, 13), (0, 19), (0, 20)):
                assert all(
                    p.message and p.place.span for p in validate(at, Target(release, {"ConcurrentAdmission": True}))
                )
            with_fixes(at, Target((0, 19)), validate(at, Target((0, 19))))
            decode(at)
            for found in find(document)[0]:
                decode_configuration(found, (0, 19))
