"""Keys of validated objects: equal for objects that differ only in names and in the wording of what containers run.

Checks depend on nothing else. Of a valid name they use only the length, and of the texts of a container only whether
they are empty, so only that is in the key. A label counts as a name if its value is the object's own name, unless it is
a label of Kueue, whose values are checked.
"""

from __future__ import annotations

from marshal import dumps

from qcheck.cluster.value import TYPE_CHECKING
from qcheck.kinds.schema.formats import label_fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from qcheck.kinds.validation.target import Target

    Part = Callable[[object, str], object]
    """Returns the part of a value that checks use, given the value and the name of its object."""

KUEUE = "kueue.x-k8s.io/"
LONGEST = 5000
"""The most bytes of a key that is remembered."""
WITHOUT_REFERENCES = 2
"""The last version of marshal's format in which equal data has equal bytes."""


def likeness(data: object, target: Target) -> bytes | None:
    """Return a key that is equal for objects that are alike: if one of them is valid, all are.

    `marshal` distinguishes values that Python considers equal: 1, 1.0 and True, and the order of keys. None if it
    cannot write a value (one that only running Terraform would determine), or if the key is too long to be remembered.
    """
    metadata = data.get("metadata") if isinstance(data, dict) else None
    name = metadata.get("name") if isinstance(metadata, dict) else None
    counts = _object(data, name if isinstance(name, str) else ""), target.release, target.gates, target.others
    try:
        written = dumps(counts, WITHOUT_REFERENCES)  # type: ignore[arg-type]
    except ValueError:
        return None
    return written if len(written) <= LONGEST else None


def _object(value: object, own: str) -> object:
    return _with(_OF_OBJECT, value, own)


def _objects(value: object, own: str) -> object:
    return [_object(each, own) for each in value] if isinstance(value, list) else value


def _metadata(value: object, own: str) -> object:
    return _with(_OF_METADATA, value, own)


def _selector(value: object, own: str) -> object:
    return _with(_OF_SELECTOR, value, own)


def _containers(value: object, own: str) -> object:
    return [_with(_OF_CONTAINER, each, own) for each in value] if isinstance(value, list) else value


def _variables(value: object, own: str) -> object:
    return [_variable(each, own) for each in value] if isinstance(value, list) else value


def _variable(value: object, own: str) -> object:
    return {**value, "value": _text(value["value"], own)} if isinstance(value, dict) and "value" in value else value


def _with(parts: dict[str, Part], value: object, own: str) -> object:
    if not isinstance(value, dict):
        return value
    return {key: parts[key](inner, own) if key in parts else inner for key, inner in value.items()}


def _name(name: object, own: str) -> object:  # noqa: ARG001  (every part has this shape)
    return (len(name),) if isinstance(name, str) and label_fault(name) is None else name


def _labels(labels: object, own: str) -> object:
    if not isinstance(labels, dict) or own not in labels.values():
        return labels
    return {k: _name(v, own) if v == own and not k.startswith(KUEUE) else v for k, v in labels.items()}


def _text(text: object, own: str) -> object:  # noqa: ARG001
    return text and "text" if isinstance(text, str) else text


def _texts(texts: object, own: str) -> object:
    return [_text(each, own) for each in texts] if isinstance(texts, list) else texts


_OF_CONTAINER: dict[str, Part] = {"image": _text, "command": _texts, "args": _texts, "env": _variables}
_OF_METADATA: dict[str, Part] = {"name": _name, "namespace": _name, "labels": _labels}
_OF_SELECTOR: dict[str, Part] = {"matchLabels": _labels}
_OF_OBJECT: dict[str, Part] = {
    "metadata": _metadata,
    **dict.fromkeys(("spec", "template", "jobTemplate"), _object),
    "replicatedJobs": _objects,
    **dict.fromkeys(("selector", "namespaceSelector"), _selector),
    **dict.fromkeys(("containers", "initContainers"), _containers),
}
"""The fields that contain names and texts; all others are used as they are written."""
