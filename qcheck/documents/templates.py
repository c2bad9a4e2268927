"""Recognises files that are not manifests yet: Helm, Jinja, Terraform and `${...}` templates.

They must not be parsed partially: a condition around a document, or a quota that is still `${num_gpus}`, would falsify
every later answer. Text that only looks like a template is common and must be read: shell scripts in block scalars,
alert texts, policies of other controllers.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (".j2", ".jinja", ".jinja2", ".tftpl", ".tpl", ".tmpl", ".gotmpl", ".erb", ".mustache")
"""File name endings of templates that must be rendered first."""

MARK = re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\$\{[^}\n]*\}|%\{[^}\n]*\}|<%.*?%>")
FIRST_COLUMN = re.compile(r"^(?:\{\{|\{%|%\{|<%)", re.MULTILINE)
"""A template statement in the first column is in no block scalar, so it controls whole documents."""
COMMENT = re.compile(r"^[ \t]*#[^\n]*|(?<=[ \t])#[^\n]*", re.MULTILINE)

PLACEHOLDER = re.compile(
    r"<[A-Za-z][\w .-]*>|\$[A-Za-z_]\w*|__[A-Za-z]\w*__|@@?[A-Za-z]\w*@@?|%%?[A-Za-z]\w*%%?|\[\[[ \w.-]+\]\]"
    r"|(?<=[\w-])\{\}|(?<![\w.])\.\.\.(?![\w./])"
    r"|(?<![A-Za-z])(?:PLACEHOLDER|REPLACE_?ME|CHANGE_?ME|YOUR_[A-Z_]+)\w*"
)
"""Placeholders that people fill in: `<NUM_NODES>`, `$IMAGE`, `__GPUS__`, `@@NAME@@`, `job-{}`, `...`."""
NO_YAML = re.compile(r"(?<=: )(?:@@?[A-Za-z]\w*@@?|%%?[A-Za-z]\w*%%?)")
"""An unquoted placeholder as a value that makes the document invalid YAML."""
CAPITALS = re.compile(r"[A-Z][A-Z0-9]*(?:[_ ][A-Z0-9]+)+|NAMESPACE|[a-z0-9-]*_[A-Z][A-Z0-9]*_[a-z0-9-]*")
"""A placeholder for a number or a lower-case name: a variable such as `NUM_NODES` or `_ID_`, or words such as
`FILLED BY AN OPERATOR`."""
NAMES_AND_NUMBERS = frozenset(
    {
        "claimName",
        "cohort",
        "cohortName",
        "completions",
        "count",
        "maxReplicas",
        "minReplicas",
        "name",
        "namespace",
        "nominalQuota",
        "parallelism",
        "parentName",
        "priorityClassName",
        "queueName",
        "replicas",
        "serviceAccount",
        "serviceAccountName",
    }
)
"""Fields whose values are never written in capitals and underscores."""
OF_PARAMETERS = frozenset({"value", "valueFrom", "default"})
"""Fields beside the name of an environment variable or of a parameter, which may be in capitals."""
AMOUNTS = frozenset({"allocatable", "limits", "requests"})
"""Fields of resource names and quantities."""
NAME_OR_NUMBER = re.compile(r"[\w./:@+-]*")
"""The rest of a value without its placeholders, if it is neither prose nor text for another program."""

FREE_TEXT = frozenset(
    {
        "annotations",
        "args",
        "binaryData",
        "command",
        "data",
        "description",
        "env",
        "files",
        "image",
        "lifecycle",
        "literals",
        "livenessProbe",
        "openAPIV3Schema",
        "readinessProbe",
        "startupProbe",
        "stringData",
        "userData",
    }
)
"""Fields that may legitimately contain `${NAME}` and `{{ }}`, for a shell or another program."""
OF_CLOUDS: dict[str, frozenset[str]] = {
    "eksctl.io": frozenset(
        {
            "metadata",
            "iam",
            "vpc",
            "addons",
            "accessConfig",
            "tags",
            "ssh",
            "subnets",
            "karpenter",
            "iamIdentityMappings",
        }
        | {"ami", "secretsEncryption", "privateNetworking", "cloudWatch", "gitops"}
    ),
    "karpenter.k8s.aws": frozenset(
        {"role", "instanceProfile", "amiSelectorTerms", "subnetSelectorTerms", "securityGroupSelectorTerms", "tags"}
        | {"subnetSelector", "securityGroupSelector", "amiSelector", "context"}
    ),
    "karpenter.azure.com": frozenset({"vnetSubnetID", "tags"}),
    "karpenter.k8s.gcp": frozenset({"serviceAccount", "imageSelectorTerms", "labels", "networkTags"}),
}
"""Fields, by API group, that name parts of a cloud account: they are irrelevant to capacity."""
OWN_TEMPLATES = (
    "argoproj.io/",
    "kyverno.io/",
    "tekton.dev/",
    "templates.gatekeeper.sh/",
    "kro.run/",
    "triggers.tekton.dev/",
)
"""API groups whose objects contain placeholders for their own controllers."""

HELM = re.compile(
    r"\{\{-?\s*(?:\.Values|\.Release|\.Chart|\.Capabilities|include\b|template\b|define\b|toYaml\b)|\.Values\."
)


def is_template_name(path: str) -> bool:
    return path.endswith(SUFFIXES)


def first_mark(text: str, start: int = 0, end: int | None = None, mark: re.Pattern[str] = MARK) -> re.Match[str] | None:
    """Return the first placeholder outside comments."""
    stop = len(text) if end is None else end
    for match in mark.finditer(text, start, stop):
        line = text.rfind("\n", 0, match.start()) + 1
        if not COMMENT.search(text, line, match.start()):
            return match
    return None


def first_written(text: str, value: str) -> re.Match[str] | None:
    """Return the first place outside comments at which a value is written."""
    return first_mark(text, mark=re.compile(rf"(?<!\w){re.escape(value)}(?!\w)"))


def first_statement(text: str) -> re.Match[str] | None:
    """Return the first template statement in the first column, if any."""
    return FIRST_COLUMN.search(text)


def placeholder(data: object) -> str | None:
    """Return the first placeholder in a parsed Kubernetes object, or in a value of it."""
    version = str(data.get("apiVersion", "")) if isinstance(data, dict) else ""
    if version.startswith(OWN_TEMPLATES):
        return None
    return next(_in_values(data, FREE_TEXT | OF_CLOUDS.get(version.partition("/")[0], frozenset())), None)


def is_open(value: str) -> bool:
    """Return whether a value is still to be filled in: it is a placeholder, or a name or number that contains one."""
    rest, braces = MARK.subn("", value)
    rest, others = PLACEHOLDER.subn("", rest)
    return bool(braces or others) and "://" not in rest and NAME_OR_NUMBER.fullmatch(rest) is not None


def _in_values(data: object, free: frozenset[str], of: str = "", within: str = "") -> Iterator[str]:
    """Yield the placeholders in a value of the field `of`, inside the field `within`; fields in `free` are not searched."""
    if isinstance(data, dict):
        is_parameter = not OF_PARAMETERS.isdisjoint(data)
        for key, value in data.items():
            if is_open(key):
                yield key
            if key not in free:
                yield from _in_values(value, free, "" if is_parameter and key == "name" else key, of)
    elif isinstance(data, list):
        for item in data:
            yield from _in_values(item, free, of, within)
    elif isinstance(data, str) and "\n" not in data and (is_open(data) or _is_variable(data, of, within)):
        yield data


def _is_variable(value: str, of: str, within: str) -> bool:
    """Return whether a variable is written instead of a name or a number. Names of resources may be in capitals."""
    is_needed = within in AMOUNTS or (of in NAMES_AND_NUMBERS and within != "resources")
    return is_needed and CAPITALS.fullmatch(value) is not None


def engine(text: str, path: str) -> str:
    """Return the likely renderer: helm, jinja, terraform, erb, substitution (Flux, envsubst), person."""
    if first_mark(text) is None:
        return "placeholder"
    if path.endswith((".tftpl", ".tf")) or "%{" in text:
        return "terraform"
    if path.endswith((".j2", ".jinja", ".jinja2")) or "{%" in text:
        return "jinja"
    if "<%" in text:
        return "erb"
    if HELM.search(text):
        return "helm"
    return "go-template" if "{{" in text else "substitution"


OWNER = "Render the template with its own tool, and check the output."
HOW = {
    "helm": "Render the chart: `helm template CHART -f values.yaml | qcheck check -`, or list it under "
    "`render:` in qcheck.yaml.",
    "terraform": "Write the output of templatefile() to a file, and check that file.",
    "substitution": "Substitute the variables first (`flux build kustomization`, `envsubst`), and check the result.",
    "placeholder": "Fill in the placeholders and check the result, or `exclude` the file in the settings.",
    "jinja": OWNER,
    "erb": OWNER,
    "go-template": OWNER,
}
