"""Reading of the files in which users write questions: validated by pydantic, every error with its line."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from qcheck.answers.question import QuestionError
from qcheck.cluster.did_you_mean import nearest
from qcheck.cluster.quantity import Quantity, QuantityError, parse_quantity
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.documents.load import load
from qcheck.settings.read import MOST_FAULTS, keys_at, left_out
from qcheck.settings.validators import version_number
from qcheck.sources.files import File

if TYPE_CHECKING:
    from qcheck.documents.document import Document

WORDS = {
    "missing": "is missing",
    "model_type": "must be a mapping",
    "dict_type": "must be a mapping",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "string_type": "must be text",
}
"""Plain words for kinds of errors that pydantic words for programmers."""
LARGEST = 50_000_000
"""The maximum size of a question in bytes."""


class QuestionPart(BaseModel):
    """A part of a question; keys that it does not have are errors."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)


P = TypeVar("P", bound=QuestionPart)


def _quantity(value: object) -> object:
    if isinstance(value, Quantity):
        return value
    try:
        quantity = parse_quantity(value)
    except QuantityError as error:
        raise ValueError(str(error)) from None
    if quantity.nanos < 0:
        raise ValueError("an amount cannot be negative")
    return quantity


FormatVersion = Annotated[Literal[1], BeforeValidator(version_number)]
Amount = Annotated[object, BeforeValidator(_quantity, json_schema_input_type=int | float | str)]
"""A Kubernetes quantity, read as `Quantity`."""


def read_question(path: str, form: type[P]) -> tuple[Document, P]:
    """Return the only document of a file, validated as `form`. Raises `QuestionError`."""
    try:
        raw = File(path, path).read(LARGEST)
    except OSError as error:
        raise QuestionError([f"{path}: {error.strerror or error}"]) from None
    if len(raw) > LARGEST:
        raise QuestionError([f"{path}:1: larger than {LARGEST:,} bytes"])
    loaded = load(raw, path)
    if loaded.faults:
        raise QuestionError([f"{f.spot.path}:{f.spot.span()[0]}: {f.message}" for f in loaded.faults])
    if len(loaded.documents) != 1:
        raise QuestionError([f"{path}:1: expected one YAML document; this file has {len(loaded.documents)}"])
    document = loaded.documents[0]
    try:
        return document, form.model_validate(document.data)
    except ValidationError as error:
        errors = error.errors()
        faults = [at(document, e["loc"], _worded(form, e["loc"], e["type"], e["msg"])) for e in errors[:MOST_FAULTS]]
        faults += [at(document, e["loc"], left_out(errors)) for e in errors[MOST_FAULTS:][:1]]
        raise QuestionError(list(dict.fromkeys(faults))) from None


def at(document: Document, route: tuple[str | int, ...], message: str) -> str:
    """Return a message with the line of a route, or of its deepest existing part."""
    return f"{document.path}:{document.span(route, on_key=True)[0]}: {message}"


def _worded(form: type[QuestionPart], route: tuple[str | int, ...], kind: str, message: str) -> str:
    named = "".join(f"[{s}]" if isinstance(s, int) else f".{s}" for s in route).lstrip(".")
    if kind == "extra_forbidden":
        known = keys_at(form, route[:-1])
        near = nearest(str(route[-1]), known)
        return f"{named}: there is no such key; " + (
            f"did you mean {near}?" if near else f"known here: {', '.join(known)}"
        )
    text = WORDS.get(kind, message.removeprefix("Value error, "))
    return f"{named}: {text[:1].lower()}{text[1:]}" if named else text
