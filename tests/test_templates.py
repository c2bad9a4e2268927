"""Files that must be rendered first are recognised, and files that only look like it are read."""

from __future__ import annotations

import pytest

from qcheck.documents.load import load

QUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata:\n  name: {}\n"

TEMPLATES = [
    ("q.yaml", QUEUE.format("{{ .Values.name }}"), "helm"),
    ("q.yaml", QUEUE.format('"{{ .Values.name }}"'), "helm"),
    ("q.yaml", QUEUE.format("x-{{ name }}"), "go-template"),
    ("q.yaml", QUEUE.format("${NAME}"), "substitution"),
    ("q.yaml", "{{- if .Values.on }}\n---\n" + QUEUE.format("a") + "---\n{{- end }}\n", "helm"),
    ("q.yaml", QUEUE.format("a") + "---\n{% for x in y %}\n" + QUEUE.format("{{ x }}") + "{% endfor %}\n", "jinja"),
    ("q.yaml", QUEUE.format("a") + "spec:\n  quota: ${ n > 0 ? n : 1000 }\n", "substitution"),
    ("q.yaml.tftpl", QUEUE.format("a") + "spec:\n  quota: ${n}\n", "terraform"),
    ("q.yaml", QUEUE.format("a") + "spec:\n  quota: <NUM_GPUS>\n", "placeholder"),
    ("q.yaml", QUEUE.format("<your-team>-queue"), "placeholder"),
    ("q.yaml", QUEUE.format("$NAME"), "placeholder"),
    ("q.yaml", QUEUE.format("a") + "spec: {quota: __GPUS__}\n", "placeholder"),
    ("q.yaml", QUEUE.format("PLACEHOLDER_QUEUE"), "placeholder"),
    ("q.yaml", QUEUE.format("@@QUEUE@@"), "placeholder"),
    ("q.yaml", QUEUE.format("team-%TEAM%"), "placeholder"),
    ("q.yaml", QUEUE.format("TEAM_QUEUE"), "placeholder"),
    ("q.yaml", QUEUE.format("SET BY THE OPERATOR"), "placeholder"),
    ("q.yaml", "apiVersion: v1\nkind: Namespace\nmetadata: {name: NAMESPACE}\n", "placeholder"),
    ("q.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  serviceAccountName: V_KSA\n", "placeholder"),
    ("q.yaml", QUEUE.format("a") + "spec: {x: [{nominalQuota: NUM_GPUS}]}\n", "placeholder"),
    ("q.yaml", "apiVersion: v1\nkind: Pod\nspec: {x: {limits: {nvidia.com/gpu: GPU_COUNT}}}\n", "placeholder"),
    ("q.yaml", QUEUE.format("%TEAM%"), "placeholder"),
    (
        "q.yaml",
        "apiVersion: eksctl.io/v1alpha5\nkind: ClusterConfig\nmanagedNodeGroups: [{name: a, desiredCapacity: $NODES}]\n",
        "placeholder",
    ),
    ("q.yaml", QUEUE.format("team-{}"), "placeholder"),
    ("q.yaml", QUEUE.format("team-[[index]]"), "placeholder"),
    ("q.yaml", QUEUE.format("team_ID_"), "placeholder"),
    ("q.yaml", QUEUE.format("..."), "placeholder"),
    ("q.yaml", QUEUE.format("a") + "spec: {quota: '...'}\n", "placeholder"),
    ("q.yaml", QUEUE.format('"{{ name }}Gi"'), "go-template"),
    ("q.yaml.j2", QUEUE.format("a") + "spec: {{ spec }}\n", "jinja"),
    ("q.tpl", QUEUE.format("a") + 'spec:\n  # {{ no }}\n  script: |\n    {{ template "x" }}\n', "helm"),
]

OF_KARPENTER = """\
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: a}
spec: {role: 'nodes-${CLUSTER}', subnetSelectorTerms: [{tags: {karpenter.sh/discovery: '${CLUSTER}'}}]}
"""
OF_EKSCTL = """\
apiVersion: eksctl.io/v1alpha5
kind: ClusterConfig
metadata: {name: $NAME, region: '${REGION}'}
managedNodeGroups: [{name: gpu, desiredCapacity: 2, iam: {instanceRoleARN: $ROLE}}]
"""
READABLE = [
    ("q.yaml", QUEUE.format("a") + "# name: {{ .Values.name }}\n"),
    ("q.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - args: ['${HOME}', \"{{ x }}\"]\n"),
    ("q.yaml", "apiVersion: v1\nkind: ConfigMap\ndata:\n  run: |\n    echo ${NAME}\n    {{ if x }}\n"),
    ("q.yaml", "apiVersion: kyverno.io/v1\nkind: ClusterPolicy\nspec:\n  name: '{{request.object.metadata.name}}'\n"),
    ("q.yaml", "apiVersion: v1\nkind: Pod\nspec:\n  x: $(NODE_NAME)\n"),
    ("q.yaml.tftpl", QUEUE.format("a")),
    ("q.yaml", QUEUE.format("a") + "spec:\n  title: 'see https://x.example/{{ .Namespace }} for more'\n"),
    ("q.yaml", QUEUE.format("a") + "spec:\n  note: costs <5 EUR and $HOME stays\n"),
    ("q.yaml", "apiVersion: v1\nkind: Pod\nspec: {containers: [{image: $IMAGE, args: [$X, <y>]}]}\n"),
    ("q.json", '{"apiVersion": "v1", "kind": "Pod", "x": "${y}"}'),
    ("q.yaml", OF_KARPENTER),
    ("q.yaml", OF_EKSCTL),
    ("q.yaml", QUEUE.format("Team-A")),
    ("q.yaml", QUEUE.format("a") + "spec: {selector: {}, note: 'and so on ...', more: etc...}\n...\n"),
    ("q.yaml", QUEUE.format("TEAM")),
    ("q.yaml", QUEUE.format("a") + "spec: {flavors: [{resources: [{name: VENDOR_GPU, nominalQuota: 8}]}]}\n"),
    ("q.yaml", "apiVersion: v1\nkind: Pod\nspec: {containers: [{env: [{name: MY_VAR, value: ANY_VALUE}]}]}\n"),
    ("q.yaml", f"{QUEUE.format('a')}  team: {{cpu: A_B}}\nspec:\n  parameters:\n  - {{name: NUM_GPUS, value: '8'}}\n"),
    (
        "q.yaml",
        f"{QUEUE.format('a')}  team: {{cpu: A_B}}\nspec: {{extraEnv: [{{name: LOG_LEVEL, valueFrom: {{x: y}}}}]}}\n",
    ),
    ("q.yaml", QUEUE.format("a") + "spec: {effect: NO_SCHEDULE, at: 'a@b.example', rate: 25%}\n"),
]


@pytest.mark.parametrize(("path", "text", "engine"), TEMPLATES)
def test_templates_are_not_read(path: str, text: str, engine: str) -> None:
    loaded = load(text, path)
    assert not loaded.documents
    assert [(fault.code, fault.data["engine"]) for fault in loaded.faults] == [("template-not-rendered", engine)]
    assert loaded.faults[0].help


@pytest.mark.parametrize(("path", "text"), READABLE)
def test_other_programs_placeholders_are_read(path: str, text: str) -> None:
    loaded = load(text, path)
    assert not loaded.faults
    assert loaded.documents


def test_only_what_is_needed_is_judged() -> None:
    def wanted(version: str, kind: str, text: str) -> bool:
        return kind == "ClusterQueue"

    workflow = "on: push\njobs:\n  a:\n    name: ${{ x }}\n    run: |\n      kind: [\n"
    service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: ${NAME}\n"
    broken_service = "apiVersion: v1\nkind: Service\n  x: [\n"
    for text in (workflow, service, broken_service, "a: [\n", "kindness: {{ x }}\n"):
        loaded = load(text, "x.yaml", wanted=wanted)
        assert not loaded.faults
        assert not loaded.documents
    assert [fault.code for fault in load(QUEUE.format("["), "x.yaml", wanted=wanted).faults] == ["yaml-syntax"]
    assert len(load(service + "---\n" + QUEUE.format("a"), "x.yaml", wanted=wanted).documents) == 1
