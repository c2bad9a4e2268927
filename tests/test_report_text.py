"""The text report, read as a person reads it."""

from __future__ import annotations

from made import QUEUE, incomplete_inputs, over_quota, place, settled

from qcheck.reports import text
from qcheck.reports.text import render

WHOLE = """\
error[QC101] quota-exceeds-capacity: h100 reserves 96 nvidia.com/gpu; its nodes hold 64
  --> queues/team-a.yaml:12:23
   |
12 |         nominalQuota: 96
   |                       ^^ 96 reserved
   |
  ::: pools/h100.yaml:6:10
   |
 6 |   count: 8
   |          - 8 nodes x 8 = 64
   |
   = help: Fix quota-exceeds-capacity.

1 error in 2 files, 2 documents, 2 objects
"""


def test_a_finding_shows_the_lines_of_both_files() -> None:
    assert render(settled(over_quota())) == WHOLE


def test_nothing_found_is_said_with_what_was_looked_at() -> None:
    assert render(settled()) == "no findings in 2 files, 2 documents, 2 objects\n"


def test_what_was_not_judged_has_a_line_each() -> None:
    assert render(settled(inputs=incomplete_inputs())) == (
        "not judged: charts/queue.yaml: a template\n"
        "not judged: QC205 flavors-share-nodes: no node pool was read\n"
        "could not judge: broken.yaml: not valid YAML\n"
        "no findings in 3 files, 2 documents, 2 objects\n"
    )


def test_places_of_one_file_are_drawn_together_in_order_of_lines() -> None:
    found = over_quota().near(place(route=("metadata", "name")), "this queue")
    assert " 4 |   name: team-a\n   |         ------ this queue\n...\n12 |         nominalQuota: 96\n   |" in render(
        settled(found)
    )


def test_an_estimate_says_so() -> None:
    assert "   = note: not a proof: it relies on an estimate" in render(settled(over_quota().likely()))


def test_colours_come_only_when_asked_for() -> None:
    result = settled(over_quota())
    assert "\x1b" not in render(result)
    coloured = text.render(result, colour=True)
    assert coloured.startswith("\x1b[1;31merror[QC101]\x1b[0m ")


def drawn(line: str, value: str) -> list[str]:
    """The source line and the carets under `value`, the text of the last scalar in `line`."""
    at = place(line + "\n", "x.yaml", ("a", 1))
    rows = render(settled(over_quota(at))).splitlines()
    start = rows.index(f" --> x.yaml:1:{line.index(value) + 1}")
    return [row.split(" | ", 1)[1] for row in rows[start + 2 : start + 4]]


def test_carets_stand_under_wide_characters_and_tabs() -> None:
    source, carets = drawn("a: ['日本', 96]", "96")
    assert source == "a: ['日本', 96]"
    assert carets.index("^^") == len("a: ['xxxx', ")
    source, carets = drawn("a: ['x',\t96]", "96")
    assert source[carets.index("^^") :] == "96]"


def test_a_long_line_is_cut_around_the_mark() -> None:
    source, carets = drawn(f"a: ['{'x' * 400}', 96, {'y' * 400}]", "96")
    assert source[carets.index("^^") :].startswith("96, y")
    assert len(source) <= 110


def test_many_places_are_counted() -> None:
    found = over_quota()
    for number in range(40):
        found = found.near(place(QUEUE, f"queues/{number}.yaml"), "here")
    assert "   = note: and 29 more places" in render(settled(found))
