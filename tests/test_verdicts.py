"""Each file of `fixtures/verdicts` holds a cluster with some workloads, and a verdict on each in a comment.

    #! NAME: VERDICT [in FLAVOR, FLAVOR]

VERDICT is in the words of `qcheck admit`; the flavors are those of all pod sets, in order.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from qcheck.api import admit, audit
from qcheck.reports.admission import flavors_of

FOLDER = Path(__file__).resolve().parent.parent / "fixtures" / "verdicts"
FILES = sorted(FOLDER.glob("*.yaml"))
_MARK = re.compile(r"^#! (\S+): (.*)$", re.MULTILINE)


@pytest.mark.parametrize("file", FILES, ids=[f.stem for f in FILES])
def test_verdicts_are_those_that_the_file_names(file: Path) -> None:
    wanted = dict(_MARK.findall(file.read_text()))
    found = {}
    for _, verdict in admit([str(file)], []).verdicts:
        name = verdict.workload.name
        flavors = list(dict.fromkeys(flavors_of(verdict.decision.assigned).values()))
        where = f" in {', '.join(flavors)}" if " in " in wanted.get(name, "") else ""
        found[name] = verdict.word + where
    assert wanted
    assert found == wanted


@pytest.mark.parametrize("file", FILES, ids=[f.stem for f in FILES])
def test_check_contradicts_no_verdict(file: Path) -> None:
    """No error is about a workload that runs."""
    running = {v.workload.id for _, v in admit([str(file)], []).verdicts if v.runs}
    errors = [f for f in audit([str(file)]).findings if f.severity == "error" and f.object in running]
    assert not errors
