"""The schedule of a CronJob, as github.com/robfig/cron parses it."""

from __future__ import annotations

import re

from qcheck.cluster.quantity import whole

_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
_FIELDS = ("minute", "hour", "day of the month", "month", "day of the week")
_MONTHS = {
    m: n for n, m in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1)
}
_DAYS = {d: n for n, d in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_EVERY = r"@every ([0-9]+(\.[0-9]*)?(ns|us|µs|ms|s|m|h))+"


def schedule_fault(text: str) -> str | None:
    """Return the fault of a schedule; None if it is valid."""
    if not text:
        return "must not be empty"
    if "TZ=" in text:
        return "cannot use TZ or CRON_TZ; use timeZone"
    if text.startswith("@"):
        return None if text in _DESCRIPTORS or re.fullmatch(_EVERY, text) else f"unrecognized descriptor: {text}"
    fields = text.split()
    if len(fields) != len(_BOUNDS):
        return f"expected exactly {len(_BOUNDS)} fields, found {len(fields)}"
    for at, field in enumerate(fields):
        for part in field.split(","):
            if not _is_range(part, at):
                return f"{part!r} is not a valid {_FIELDS[at]}"
    return None


def _is_range(part: str, at: int) -> bool:
    """Return whether a part is `*`, `?`, a number, name or range, with or without a step."""
    span, slash, step = part.partition("/")
    if slash and not whole(step):
        return False
    if span in ("*", "?"):
        return True
    low, dash, high = span.partition("-")
    ends = [_number(e, at) for e in ((low, high) if dash else (low,))]
    if any(e is None for e in ends):
        return False
    least, most = _BOUNDS[at]
    known = [e for e in ends if e is not None]
    return least <= known[0] and known[-1] <= most and known == sorted(known)


def _number(text: str, at: int) -> int | None:
    names = {3: _MONTHS, 4: _DAYS}.get(at, {})
    if text.lower() in names:
        return names[text.lower()]
    return whole(text)
