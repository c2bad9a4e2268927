"""What went wrong while reading: facts for the rules of family QC0."""

from __future__ import annotations

from qcheck.cluster.edits import Fix
from qcheck.cluster.objects import ObjectId
from qcheck.cluster.place import Place
from qcheck.cluster.value import TYPE_CHECKING, Value

if TYPE_CHECKING:
    Data = dict[str, str | int | bool | None]


class Problem(Value):
    """Something that reading or decoding met.

    `code` names the rule it belongs to by its kebab-case name (`yaml-syntax`, `api-rejected`, `unknown-field` ...);
    `object` is None where no object could be told; `certain` is False where it rests on what was not read.
    """

    code: str
    place: Place
    message: str
    help: str = ""
    object: ObjectId | None = None
    related: tuple[Place, ...] = ()
    data: Data = {}
    fixes: tuple[Fix, ...] = ()
    certain: bool = True
