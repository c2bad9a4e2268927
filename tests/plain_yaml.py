"""YAML files of the project and of other tools as plain data, without qcheck's own loader."""

from __future__ import annotations

from io import StringIO
from typing import Any

from ruamel.yaml import YAML


def read(text: str) -> Any:
    return YAML(typ="safe").load(text)


def read_all(text: str) -> list[Any]:
    return list(YAML(typ="safe").load_all(text))


def written(
    data: object,
    *,
    flow: bool | None = False,
    style: str | None = None,
    width: int = 80,
    indent: int = 2,
    aliases: bool = True,
) -> str:
    """`data` as ruamel.yaml writes it; `style` is the quote or block sign of every scalar."""
    yaml: Any = YAML(typ="safe", pure=True)
    yaml.default_flow_style = flow
    yaml.default_style = style
    yaml.width = width
    yaml.indent = indent
    yaml.sort_base_mapping_type_on_output = False
    if not aliases:
        yaml.representer.ignore_aliases = lambda _data: True
    stream = StringIO()
    yaml.dump(data, stream)
    return stream.getvalue()
