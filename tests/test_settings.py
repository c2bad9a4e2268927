"""Settings: found in the right place, read as they are meant, and refused with the line and what to write instead."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import plain_yaml
import pytest
from jsonschema import Draft202012Validator

from qcheck.api import audit
from qcheck.cluster.policy import Release
from qcheck.settings import ClusterScope, Settings, SettingsError
from qcheck.settings.load import load_settings

WHOLE = """\
version: 1
kueue: "0.16"
complete: false
profile: reserved-and-shared
clusters:
  prod-a:
    include: ["clusters/prod-a/**", "terraform/prod-a/*.tf"]
    render: [{kustomize: clusters/prod-a}, {helm: charts/queues, values: [values/prod-a.yaml]}]
    kueue: "0.18"
capacity:
  autoscaled: min
  reserves:
    - {pools: ["gpu-*"], perNode: {cpu: "2", memory: 1Gi}, reason: agents}
    - {pools: [h100], total: {nvidia.com/gpu: 8}, reason: debug pods}
  virtualResources: ["aws-ip", "tekton.dev/*"]
shapes:
  - {name: trainer, requests: {nvidia.com/gpu: 8, cpu: "90"}, flavors: [h100], pods: 16, level: rack}
queues: {reserved: ["team-*"], shared: ["default"]}
rules: {select: [QC1], ignore: [QC106], severity: {QC205: error}, params: {QC311: {budget: 300s}}}
instanceTypes:
  our.8x: {allocatable: {cpu: "100", nvidia.com/gpu: 8}, accelerator: {model: H100, nvlinkDomain: 8}}
limits: {bytes: 1000, depth: 20, renderSeconds: 5}
baseline: qcheck-baseline.json
"""


def written(folder: Path, text: str, name: str = "qcheck.yaml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str, name: str = "qcheck.yaml") -> str:
    with pytest.raises(SettingsError) as caught:
        load_settings(explicit=str(written(folder, text, name)))
    return str(caught.value)


def test_everything_that_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, WHOLE)
    settings = load_settings()
    assert (settings.path, settings.root) == ("qcheck.yaml", ".")
    assert settings.policy.kueue == Release(0, 16)
    assert not settings.policy.complete
    assert settings.policy.reserves[0].per_node == {"cpu": 2000, "memory": 2**30}
    assert settings.policy.reserves[1].total == {"nvidia.com/gpu": 8}
    assert settings.policy.is_virtual("tekton.dev/pipelines")
    assert settings.policy.shapes[0].requests == {"nvidia.com/gpu": 8, "cpu": 90_000}
    assert settings.policy.is_reserved("team-a")
    (prod,) = settings.scopes
    assert prod.policy.kueue == Release(0, 18)
    assert [(r.tool, r.path, r.values) for r in prod.render] == [
        ("kustomize", "clusters/prod-a", ()),
        ("helm", "charts/queues", ("values/prod-a.yaml",)),
    ]
    assert settings.rules.severity == {"QC205": "error"}
    assert settings.rules.params == {"QC311": {"budget": "300s"}}
    assert settings.instance_types["our.8x"].allocatable == {"cpu": 100_000, "nvidia.com/gpu": 8}
    assert settings.instance_types["our.8x"].unknown == {"memory"}
    assert (settings.limits.bytes, settings.limits.depth, settings.render_seconds) == (1000, 20, 5)


def test_the_documented_settings_are_read(tmp_path: Path) -> None:
    page = (Path(__file__).parent.parent / "docs" / "settings.md").read_text(encoding="utf-8")
    example = page.partition("```yaml\n")[2].partition("```")[0]
    settings = load_settings(explicit=str(written(tmp_path, example)))
    assert [scope.name for scope in settings.scopes] == ["prod-a", "dev"]


def test_an_empty_file_and_no_file_mean_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    without = load_settings()
    written(tmp_path, "# nothing yet\n")
    empty = load_settings()
    assert without == Settings()
    assert (empty.policy, empty.scopes, empty.rules.select) == (without.policy, without.scopes, ())
    assert empty.limits.bytes == without.limits.bytes


def test_pyproject_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(
        tmp_path, '[tool.qcheck]\nkueue = "0.15"\n[tool.qcheck.capacity]\nautoscaled = "desired"\n', "pyproject.toml"
    )
    assert load_settings().policy.autoscaled == "desired"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("kueue: '0.19'\ncapcity: {}\n", "qcheck.yaml:2: capcity: unknown key; did you mean 'capacity'?"),
        ("capacity:\n  autoscale: max\n", "qcheck.yaml:2: capacity.autoscale: unknown key; did you mean 'autoscaled'?"),
        ("clusters:\n  a:\n    incldue: []\n", "did you mean 'include'?"),
        ("kueue: 0.20\n", "qcheck.yaml:1: kueue: write the release in quotes"),
        ("kueue: newest\n", "'newest' is not a release of Kueue"),
        ("complete: 'yes, all'\n", "qcheck.yaml:1: complete: should be a valid boolean, not 'yes, all'"),
        ("capacity: {autoscaled: most}\n", "should be 'max', 'min' or 'desired', not 'most'"),
        ("shapes:\n  - requests: {cpu: 1}\n", "qcheck.yaml:2: shapes[0]: 'name' is required"),
        (
            "shapes:\n  - name: a\n    requests: {cpu: 1KB}\n",
            "qcheck.yaml:3: shapes[0].requests.cpu: '1KB' is not a quantity",
        ),
        (
            "clusters:\n  a:\n    include: ['../b/**']\n",
            "qcheck.yaml:3: clusters.a.include[0]: '../b/**' is outside the folder",
        ),
        (
            "capacity:\n  reserves:\n  - {perNode: {nvidia.com/gpu: -8}, reason: a}\n",
            "qcheck.yaml:3: capacity.reserves[0].perNode.nvidia.com/gpu: -8 is negative; write 0 or more",
        ),
        ("baseline: /etc/passwd\n", "is outside the folder"),
        ("render: [{kustomize: a, helm: b}]\n", "name either kustomize or helm"),
        ("clusters: {a: {}}\n", "a cluster needs include or render"),
        ("version: 2\n", "qcheck.yaml:1: version: should be 1, not 2"),
        ("version: true\n", "qcheck.yaml:1: version: should be 1, not true"),
        ("clusters:\n  '': {include: ['**']}\n", "qcheck.yaml:2: clusters.'': must not be empty"),
        ("clusters:\n", "qcheck.yaml:1: clusters: must be a mapping, not null"),
        ("shapes:\n- name: ' '\n  requests: {cpu: 1}\n", "qcheck.yaml:2: shapes[0].name: must not be empty"),
        ("shapes:\n- name: a\n  requests: {}\n", "qcheck.yaml:3: shapes[0].requests: must not be empty"),
        ("shapes:\n- name: a\n  requests:\n    '': 1\n", "qcheck.yaml:4: shapes[0].requests.'': must not be empty"),
        (
            "capacity:\n  reserves:\n  - {reason: a}\n",
            "qcheck.yaml:3: capacity.reserves[0]: a reserve needs perNode or",
        ),
        (
            "capacity:\n  reserves:\n  - {pools: [], total: {cpu: 1}, reason: a}\n",
            "qcheck.yaml:3: capacity.reserves[0].pools: must not be empty",
        ),
        ("rules: {ignore: ['']}\n", "qcheck.yaml:1: rules.ignore[0]: must not be empty"),
        ("baseline: ''\n", "qcheck.yaml:1: baseline: must not be empty"),
        ("rules: {severity: {QC101: fatal}}\n", "should be 'error', 'warning' or 'note', not 'fatal'"),
        ("a: [\n", "qcheck.yaml:1"),
        ("a: 1\n---\nb: 2\n", "a second document"),
        ("- a\n", "must be a mapping"),
    ],
)
def test_refused_with_line_and_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert expected in refusal(tmp_path, text)


def test_every_mistake_is_named_at_once(tmp_path: Path) -> None:
    assert refusal(tmp_path, "kueue: 1\ncapcity: {}\nshapes: 3\n").count("\n") == 2


def test_pyproject_mistakes_name_their_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = "[project]\nname = 'x'\n\n[tool.qcheck.capacity]\nautoscale = 'max'\n"
    assert "pyproject.toml:5: capacity.autoscale" in refusal(tmp_path, text, "pyproject.toml")
    assert "pyproject.toml" in refusal(tmp_path, "[tool.qcheck\n", "pyproject.toml")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[tool]\nqcheck = 3\n", "pyproject.toml:2: must be a mapping, not 3"),
        ("[tool]\n\nqcheck = {version = true}\n", "pyproject.toml:3: version: should be 1, not true"),
        ("tool.qcheck.version = 2\n", "pyproject.toml:1: version: should be 1, not 2"),
        ('[ tool . "qcheck" ]\nversion = 2\n', "pyproject.toml:2: version: should be 1, not 2"),
        ("[[tool.qcheck]]\nversion = 1\n", "pyproject.toml:1: must be a mapping"),
        (
            '[tool.qcheck.clusters."a.b"]\ninclude = ["b"]\nversion = 1\n[tool.qcheck]\nversion = 2\n',
            "pyproject.toml:5: version: should be 1, not 2\npyproject.toml:3: clusters.a.b.version: unknown key",
        ),
    ],
)
def test_every_notation_of_the_table_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, text, "pyproject.toml")
    with pytest.raises(SettingsError) as caught:
        load_settings()
    assert expected in str(caught.value)


def test_tables_of_other_tools_and_dependencies_are_not_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, '[project]\ndependencies = ["kueue-qcheck"]\n[tool.qcheck-other]\na = 1\n', "pyproject.toml")
    assert load_settings().path is None


@pytest.mark.parametrize("kind", ["directory", "pipe", "link to a device"])
def test_a_settings_file_that_is_not_a_regular_file_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "qcheck.yaml"
    if kind == "directory":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/null")
    with pytest.raises(SettingsError, match=r"^qcheck\.yaml: not a regular file$"):
        load_settings()


@pytest.mark.parametrize("name", ["qcheck.yaml", "pyproject.toml"])
def test_unreadable_settings_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, "", name)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(SettingsError, match=rf"^{name}: Permission denied$"):
        load_settings()


@pytest.mark.parametrize("other", ["qcheck.yml", "pyproject.toml"])
def test_two_settings_files_in_one_folder_are_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "version: 1\n")
    written(tmp_path, "[tool.qcheck]\nversion = 1\n", other)
    with pytest.raises(SettingsError, match=rf"^{other}: a second settings file next to qcheck\.yaml$"):
        load_settings()


def test_found_upward_to_the_git_root_and_no_further(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "clusters" / "a"
    inner.mkdir(parents=True)
    written(tmp_path, "complete: false\n")
    (tmp_path / "repo" / ".git").mkdir()
    assert load_settings(str(inner)).path is None
    written(tmp_path / "repo", "complete: false\n")
    found = load_settings(str(inner)).path
    assert found is not None
    assert Path(found).resolve() == tmp_path / "repo" / "qcheck.yaml"


def test_without_a_repository_only_up_to_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "here" / "sub"
    inner.mkdir(parents=True)
    written(tmp_path, "complete: false\n")
    monkeypatch.chdir(tmp_path / "here")
    assert load_settings("sub").path is None


def test_which_files_a_cluster_holds() -> None:
    scope = ClusterScope("a", ("clusters/a", "tf/*.tf", "*.json"), ("**/skip/",), root="infra")
    held = ["infra/clusters/a/x/q.yaml", "infra/tf/main.tf", "infra/any/where/nodes.json"]
    others = ["infra/clusters/b/q.yaml", "infra/tf/sub/main.tf", "clusters/a/q.yaml", "infra/clusters/a/skip/q.yaml"]
    assert [path for path in held + others if scope.holds(path)] == held
    assert ClusterScope("default").holds("../elsewhere.yaml")


def test_the_schema_accepts_what_is_accepted() -> None:
    from qcheck.settings.schema import json_schema

    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(plain_yaml.read(WHOLE))
    assert json.loads(json.dumps(schema)) == schema


def test_every_key_of_the_schema_is_described() -> None:
    from qcheck.settings.schema import json_schema

    schema: Any = json_schema()
    parts = {"qcheck.yaml": schema, **schema["$defs"]}
    bare = [
        f"{part}.{key}"
        for part, one in parts.items()
        for key, said in one["properties"].items()
        if "description" not in said
    ]
    assert bare == []


def test_lists_of_a_cluster_add_to_the_common_ones_and_single_values_win(tmp_path: Path) -> None:
    text = """
capacity: {autoscaled: min, virtualResources: [a], reserves: [{total: {cpu: 1}, reason: x}]}
queues: {shared: [s]}
rules: {ignore: [QC1], params: {QC311: {budget: 1s, operators: [a]}}}
clusters:
  one: {include: [one]}
  two:
    include: [two]
    capacity: {virtualResources: [b], autoscaled: max}
    queues: {shared: [t]}
    shapes: [{name: a, requests: {cpu: 1}}]
    rules: {ignore: [QC2], params: {QC311: {budget: 2s}}}
"""
    settings = load_settings(explicit=str(written(tmp_path, text)))
    one, two = settings.scopes
    assert one.policy == settings.policy
    assert (two.policy.autoscaled, two.policy.virtual_resources) == ("max", ("a", "b"))
    assert (two.policy.shared_queues, len(two.policy.shapes), len(two.policy.reserves)) == (("s", "t"), 1, 1)
    choice = settings.rules.with_own(two.rules)
    assert (choice.ignore, choice.params) == (("QC1", "QC2"), {"QC311": {"budget": "2s", "operators": ["a"]}})


def test_without_a_file_pydantic_stays_out() -> None:
    script = (
        "import sys; from qcheck.settings.load import load_settings; load_settings('/'); "
        "print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_release_that_is_too_new_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text, expected in (
        ('kueue: "0.20"', []),
        ('kueue: "0.99"', ["Kueue 0.99 is newer than all releases that qcheck knows; it is judged like 0.20"]),
        (
            'volcano: {version: "2.0"}',
            ["Volcano 2.0 is newer than all releases that qcheck knows; it is judged like 1.15"],
        ),
    ):
        (tmp_path / "qcheck.yaml").write_text(f"version: 1\n{text}\n")
        assert list(load_settings(".").newer_releases) == expected
        assert [n.why for n in audit(["."], load_settings(".")).inputs.not_read] == expected


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("complete: true\nversion: 1.0\n", 2, "version: should be 1, not 1.0"),
        ("version: 1e0 # one\n", 1, "version: should be 1, not 1e0"),
        ("version: 1.00\n", 1, "version: should be 1, not 1.00"),
        ("version: 1\nrules:\n  ignore: []\n  select: []\n", 4, "rules.select: must not be empty; name at least one"),
        ("version: 1\nclusters: {}\n", 2, "clusters: must not be empty; name at least one"),
        (
            "shapes:\n- name: a\n  requests: {nvidia.com/gpu: 1}\n  flavors: []\n",
            4,
            "shapes[0].flavors: must not be empty; name at least one",
        ),
    ],
)
def test_an_empty_choice_is_an_error_with_its_line(
    text: str, line: int, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qcheck.yaml").write_text(text)
    with pytest.raises(SettingsError) as error:
        load_settings(".")
    assert f"qcheck.yaml:{line}: {message}" in str(error.value)


def test_of_many_faults_the_first_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "qcheck.yaml"
    path.write_text("kai:\n" + "".join(f"  k{n}: 1\n" for n in range(150)))
    with pytest.raises(SettingsError) as refused:
        load_settings(explicit=str(path))
    assert len(refused.value.problems) == 101
    assert refused.value.problems[-1].endswith(
        "qcheck.yaml:102: 50 more faults in this file, from here on, are not listed"
    )
