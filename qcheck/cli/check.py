"""`qcheck check`: the gate."""

from __future__ import annotations

import os
import sys

from qcheck.cli.given import audited, check_rules, settings_for, words
from qcheck.cli.output import STDOUT, Output, parse_outputs, write
from qcheck.cli.terminal import Watch, complain, wants_color
from qcheck.model.value import TYPE_CHECKING, replace
from qcheck.reports import FORMATS, render

if TYPE_CHECKING:
    from qcheck.cli.options import CheckOptions
    from qcheck.findings.result import Result
    from qcheck.settings import Settings


def check(options: CheckOptions) -> int:
    """Audits the paths, writes the reports, and returns the exit code."""
    outputs = parse_outputs(options.format, FORMATS)
    settings = _settings(options)
    watch = Watch(options.verbose, options.quiet)
    watch.note(f"settings: {settings.path or 'none found'}")
    result = _judged(audited(options.paths, settings, watch, options.since), options)
    watch("report", 0, 0)
    for output in outputs:
        write(output, _rendered(result, output, options))
    watch.close()
    if result.inputs.unjudged and Output("text") not in outputs:
        complain("could not judge everything:\n" + "\n".join(result.inputs.unjudged))
    return 0 if options.exit_zero and result.exit_code == 1 else result.exit_code


def _rendered(result: Result, output: Output, options: CheckOptions) -> str:
    """The report; colours only in text, and only where it is shown."""
    if output.format != "text":
        return render(result, output.format)
    from qcheck.reports import text

    return text.render(result, output.file == STDOUT and wants_color(options.color, sys.stdout), options.quiet)


def _settings(options: CheckOptions) -> Settings:
    """The settings, with what the flags say instead."""
    settings = settings_for(options.paths, options.config, options.cluster)
    select, ignore = words(options.select), words(options.ignore)
    check_rules(select, "--select")
    check_rules(ignore, "--ignore")
    return replace(
        settings,
        select=select or settings.select,
        ignore=(*settings.ignore, *ignore),
        baseline=os.path.relpath(options.baseline, settings.root) if options.baseline else settings.baseline,
    )


def _judged(result: Result, options: CheckOptions) -> Result:
    """The result under the threshold that was asked for; `--strict` lets warnings fail as well."""
    lowered = "warning" if options.strict and options.fail_on == "error" else options.fail_on
    return replace(result, fail_on=lowered, strict=options.strict)
