"""A compact description of each kind: the source of field names, types, limits, defaults and published JSON Schemas.

The notation, one line per field, indented by two spaces:

    flavors! CQ-S04 [1..64] by:name CQ-S05
      name! dns
      weight quantity =1
      preference Some|Other >=0.15

`!` or `required` required. `[a..b]` a list and `{a..b}` a map, with bounds on its size; the rest of the line describes
the items. A type: `string`, `bool`, `int32`, `int64`, `number`, `quantity`, `int-or-string`, `time`, `duration`, `any`,
a format of `formats.py` (`dns`, `label-key` ...) or a named type with a capital (`PodTemplate`); without a type it is
an object with the lines below. `A|B` an enum, `len:1..63` a string's length, `min:0`, `max:9`, `size:a..b` (bounds of
the list before it), `by:a,b` the keys of a list map, `set` no repeated items, `=json` the default, `open` further
fields are allowed. `CQ-S04` is the check that a violation reports; children inherit it. `@v1beta1`, `>=0.15` and
`<0.14` restrict a line to versions and releases; before a token and a colon, only that token.
"""
