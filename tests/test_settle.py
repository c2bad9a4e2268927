"""Severity, the three piles, order, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from made import CATALOGUE, QUEUE, QUOTA_ROUTE, TEAM_A, incomplete_inputs, of_rule, over_quota, place, rule, settled

from qcheck.cluster.cluster import Cluster
from qcheck.cluster.objects import Other
from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.documents.load import load
from qcheck.findings.baseline import prune_text, read_baseline, write_text
from qcheck.findings.fingerprint import identities
from qcheck.findings.result import BaselineError, Inputs, Result
from qcheck.findings.settle import SettleTerms, overrides
from qcheck.findings.severity import Severity
from qcheck.findings.suppressions import Suppression

if TYPE_CHECKING:
    from qcheck.findings.finding import Finding
    from qcheck.findings.suppressions import Marker


def severities(*findings: object, terms: SettleTerms | None = None) -> list[str]:
    return [f.severity for f in settled(*findings, terms=terms).findings]  # type: ignore[arg-type]


def test_severity_is_the_rules_unless_something_lowers_it() -> None:
    assert severities(over_quota()) == ["error"]
    assert severities(over_quota().likely()) == ["warning"]
    assert severities(over_quota().at_most(Severity.NOTE)) == ["note"]
    assert severities(of_rule(over_quota(), "QC206").likely()) == ["note"]


def test_settings_raise_and_lower_severity() -> None:
    shared = of_rule(over_quota(), "QC205")
    assert severities(shared, terms=SettleTerms(severity={"default": {"QC205": Severity.ERROR}})) == ["error"]
    assert severities(over_quota(), terms=SettleTerms(severity={"default": {"QC101": Severity.NOTE}})) == ["note"]
    assert severities(over_quota().likely(), terms=SettleTerms(severity={"default": {"QC101": Severity.ERROR}})) == [
        "warning"
    ]


def test_the_exact_name_wins_over_a_prefix() -> None:
    found = overrides(CATALOGUE, {"flavors-share-nodes": "error", "QC2": "note", "QC1": "warning"})
    assert found == {"QC205": "error", "QC206": "note", "QC101": "warning"}


def test_findings_are_sorted_by_file_line_and_rule() -> None:
    name = place(route=("metadata", "name"))
    many = [over_quota(), of_rule(over_quota(name), "QC205"), over_quota(name), over_quota(place(path="a.yaml"))]
    shown = [(f.primary.line, f.rule.id) for f in settled(*many).findings if f.rule]
    assert shown == [
        ("a.yaml:12", "QC101"),
        ("queues/team-a.yaml:4", "QC101"),
        ("queues/team-a.yaml:4", "QC205"),
        ("queues/team-a.yaml:12", "QC101"),
    ]


def test_exit_codes() -> None:
    assert settled().exit_code == 0
    assert settled(over_quota()).exit_code == 1
    assert settled(over_quota().likely()).exit_code == 0
    assert settled(over_quota().likely(), terms=SettleTerms(fail_on=Severity.WARNING)).exit_code == 1
    assert settled(over_quota(), inputs=incomplete_inputs()).exit_code == 2
    skipped = replace(incomplete_inputs(), unjudged=())
    assert settled(inputs=skipped).exit_code == 0
    assert settled(inputs=skipped, terms=SettleTerms(strict=True)).exit_code == 1


# Suppressions


def commented(text: str, path: str = "queues/team-a.yaml") -> tuple[Place, tuple[Marker, ...]]:
    loaded = load(text, path)
    markers = tuple((c.line, c.text, c.stands_alone, c.spot) for c in loaded.comments("qcheck:"))
    return Place(loaded.documents[0], QUOTA_ROUTE), markers


def with_comment(comment: str, on_line: str = "        nominalQuota: 96") -> Result:
    """The over-quota finding of a queue that has a comment after a line, or before it if it begins a line."""
    line = f"{comment}\n{on_line}" if comment.startswith("  ") else f"{on_line}  {comment}"
    at, markers = commented(QUEUE.replace(on_line, line))
    return settled(over_quota(at), terms=SettleTerms(markers=markers, today="2026-11-29"))


def rules_of(result: Result) -> list[str]:
    return [f.rule.id for f in result.findings if f.rule]


@pytest.mark.parametrize(
    "comment",
    [
        "# qcheck: ignore[QC101] burst pool comes on Friday",
        "# qcheck: ignore[quota-exceeds-capacity] named",
        "# qcheck: ignore[QC205, QC101] two of them",
        "        # qcheck: ignore[QC101] alone on the line above",
        "        # qcheck: ignore[QC101] above\n        # another comment",
        "# qcheck: ignore[QC101] until=2026-11-29 still counts on its last day",
    ],
)
def test_a_comment_suppresses(comment: str) -> None:
    result = with_comment(comment)
    assert (rules_of(result), len(result.suppressed)) == ([], 1)


def test_a_comment_on_a_related_line_suppresses() -> None:
    loaded = load("count: 8  # qcheck: ignore[QC101] spare nodes arrive\n", "pools/x.yaml")
    markers = tuple((c.line, c.text, c.stands_alone, c.spot) for c in loaded.comments("qcheck:"))
    found = over_quota().near(Place(loaded.documents[0], ("count",)), "here")
    assert len(settled(found, terms=SettleTerms(markers=markers)).suppressed) == 1


@pytest.mark.parametrize(
    ("comment", "says"),
    [
        ("# qcheck: ignore[QC101]", "has no reason"),
        ("# qcheck: ignore[QC101] until=2030-01-01", "has no reason"),
        ("# qcheck: ignore[QC101] until=2026-11-28 for a week", "ended on 2026-11-28"),
        ("# qcheck: ignore[QC101] until=soon for a week", "is not a date"),
        ("# qcheck: ignore[QC1010] typo", "no rule is called QC1010; did you mean QC101?"),
        ("# qcheck: ignore[QC1] a prefix is a blanket", "no rule is called QC1"),
        ("# qcheck: ignore everything", "is not a suppression"),
        ("# qcheck: ingore QC101", "is not a suppression"),
        ("# qcheck: disable=QC101", "is not a suppression"),
        ("# qcheck: ignore[] nothing", "is not a suppression"),
    ],
)
def test_a_suppression_that_does_not_count_says_why(comment: str, says: str) -> None:
    result = with_comment(comment)
    assert rules_of(result) == ["QC012", "QC101"] or rules_of(result) == ["QC101", "QC012"]
    assert any(says in f.message for f in result.findings)
    assert result.suppressed == ()


def test_a_comment_that_only_begins_with_the_name_is_none() -> None:
    assert rules_of(with_comment("# qcheck: the nodes are in Terraform")) == ["QC101"]


def test_an_unused_suppression_is_a_finding_at_its_line() -> None:
    result = with_comment("# qcheck: ignore[QC205] not here")
    unused = next(f for f in result.findings if f.rule and f.rule.id == "QC012")
    assert unused.primary.line == "queues/team-a.yaml:12"
    assert "nothing to suppress" in unused.message


def test_a_suppression_of_a_rule_that_did_not_run_is_not_called_unused() -> None:
    _, markers = commented(QUEUE.replace("96", "96  # qcheck: ignore[QC205] skipped here"))
    inputs = replace(incomplete_inputs(), unjudged=())
    assert settled(inputs=inputs, terms=SettleTerms(markers=markers)).findings == ()


def test_an_annotation_suppresses_findings_about_and_inside_its_object() -> None:
    text = QUEUE.replace("  name: team-a\n", "  name: team-a\n  annotations: {qcheck.dev/ignore.QC101: burst}\n", 1)
    at = place(text)
    queue = Other(TEAM_A, Place(at.origin), {}, {"qcheck.dev/ignore.QC101": "burst"})
    cluster = Cluster(others=(queue,))
    inside = replace(over_quota(at), object=None)
    for found, expected in ((over_quota(pool_only()), 1), (inside, 1), (replace(over_quota(), object=None), 0)):
        from qcheck.findings.settle import settle

        result = settle([found], Inputs(), tuple(CATALOGUE.values()), (cluster,), SettleTerms(catalogue=CATALOGUE))
        assert len(result.suppressed) == expected


def pool_only() -> Place:
    return place("a: 1\n", "elsewhere.yaml", ("a",))


# Fingerprints and baseline


def test_fingerprints_survive_moved_lines_reordered_items_and_new_numbers() -> None:
    more = "    - name: a100\n      resources:\n      - {name: nvidia.com/gpu, nominalQuota: 1}\n"
    moved = "# a comment\n" + QUEUE.replace("    - name: h100\n", f"{more}    - name: h100\n").replace("96", "128")
    route = ("spec", "resourceGroups", 0, "flavors", 1, "resources", 0, "nominalQuota")
    there = replace(over_quota(place(moved, "moved.yaml", route)), message="another sum")
    assert identities([over_quota()]) == identities([there])


def test_fingerprints_tell_objects_flavors_rules_and_clusters_apart() -> None:
    other = over_quota().about(replace(TEAM_A, name="team-b"))
    found = [over_quota(), other, over_quota(place(route=("metadata", "name"))), replace(over_quota(), cluster="b")]
    found += [of_rule(over_quota(), "QC205"), over_quota().with_data(flavor="x"), over_quota()]
    assert len(set(identities(found))) == len(found)


def test_the_baseline_accepts_what_it_holds_and_names_what_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    both = settled(over_quota(), of_rule(over_quota(), "QC206"))
    path.write_text(write_text(both))
    again = settled(over_quota(), terms=SettleTerms(baseline=read_baseline(str(path))))
    assert rules_of(again) == ["QC013"]
    assert "still accepts QC206 at ClusterQueue team-a" in again.findings[0].message
    assert len(again.baselined) == 1
    assert again.findings[0].primary.origin.path == str(path)
    path.write_text(prune_text(read_baseline(str(path)), again))
    assert [e.rule for e in read_baseline(str(path)).entries.values()] == ["QC101"]
    assert "line" not in json.loads(path.read_text())["findings"][0]


def test_a_file_that_was_not_read_makes_no_entry_stale(tmp_path: Path) -> None:
    seen = tmp_path / "seen.yaml"
    seen.write_text(QUEUE)
    path = tmp_path / "baseline.json"
    path.write_text(write_text(settled(over_quota(place(path=str(seen))))))
    terms = SettleTerms(baseline=read_baseline(str(path)))
    assert rules_of(settled(terms=terms)) == []
    seen.unlink()
    assert rules_of(settled(terms=terms)) == ["QC013"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"schema": 2, "findings": []}', '{"schema": 1, "findings": [{"rule": 1}]}']
)
def test_what_is_no_baseline_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "baseline.json"
    path.write_text(text)
    with pytest.raises(BaselineError, match=r"baseline\.json:1: "):
        read_baseline(str(path))


def test_a_missing_rule_makes_no_finding_of_its_own() -> None:
    """Settings that leave QC012 out silence its findings."""
    from qcheck.findings.settle import settle

    _, markers = commented(QUEUE.replace("96", "96  # qcheck: ignore everything"))
    only = (rule("QC101", "quota-exceeds-capacity"),)
    assert settle([], Inputs(), only, (), SettleTerms(catalogue=CATALOGUE, markers=markers)).findings == ()


def test_an_annotation_on_a_node_pool_counts(tmp_path: Path) -> None:
    from qcheck.api import audit

    for source in Path("fixtures/rules/QC206-nodes-without-flavor/fail-forgotten-pool").iterdir():
        text = source.read_text()
        noted = text.replace("metadata:\n", "metadata:\n  annotations: {qcheck.dev/ignore.QC206: comes in spring}\n")
        (tmp_path / source.name).write_text(noted if "kind: NodePool" in text else text)
    result = audit([str(tmp_path)])
    assert [f.rule.id for f in result.suppressed if f.rule] == ["QC206"]


def test_comments_of_clusters_that_are_not_looked_at_are_not_called_unused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from qcheck.api import audit
    from qcheck.settings.load import load_settings

    monkeypatch.chdir(tmp_path)
    (tmp_path / "qcheck.yaml").write_text("version: 1\nclusters:\n  a: {include: [a.yaml]}\n  b: {include: [b.yaml]}\n")
    (tmp_path / "a.yaml").write_text(QUEUE)
    (tmp_path / "b.yaml").write_text(QUEUE.replace("96", "96  # qcheck: ignore[QC413] kept for later"))
    settings = load_settings(".")
    only = replace(settings, scopes=settings.scopes[:1])
    assert "QC012" not in [f.rule.id for f in audit(["."], only).findings if f.rule]
    assert [file.path for file in audit(["."], only).inputs.read] == ["a.yaml"]


def test_a_finding_is_compared_only_with_suppressions_at_its_places(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[Suppression] = []
    covers = Suppression.covers

    def counted(self: Suppression, found: Finding) -> bool:
        compared.append(self)
        return covers(self, found)

    monkeypatch.setattr(Suppression, "covers", counted)
    loaded = load("".join(f"a{i}: {i}  # qcheck: ignore[QC101] known\n" for i in range(300)), "a.yaml")
    markers = tuple((c.line, c.text, c.stands_alone, c.spot) for c in loaded.comments("qcheck:"))
    found = [over_quota(Place(loaded.documents[0], (f"a{i}",))) for i in range(300)]
    assert len(settled(*found, terms=SettleTerms(markers=markers)).suppressed) == 300
    assert len(compared) == 300
