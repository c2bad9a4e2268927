"""`qcheck check`: the gate."""

from __future__ import annotations

import os
import sys

from qcheck.cli.check_options import words
from qcheck.cli.inputs import audited, check_rules, paths_for, running, settings_for
from qcheck.cli.output import STDOUT, Output, UsageError, parse_outputs, to_stdout, write
from qcheck.cli.terminal import ProgressReporter, annotate, complain, is_on_github, say, wants_color
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.result import BaselineError, View
from qcheck.findings.severity import Severity
from qcheck.reports import FORMATS, render, text

if TYPE_CHECKING:
    from qcheck.cli.check_options import CheckOptions
    from qcheck.findings.result import Result
    from qcheck.pipeline.rewritten_file import RewrittenFile
    from qcheck.settings import Settings


def check(options: CheckOptions) -> int:
    """Check the paths, write the reports, and return the exit code."""
    if options.live is not None and (options.since is not None or options.fix or options.diff):
        raise UsageError("--live cannot be combined with --since, --fix or --diff")
    if options.suggest and (options.live is not None or options.set or options.add_nodes or "-" in options.paths):
        raise UsageError("--suggest cannot be combined with --live, --set, --add-nodes or standard input")
    outputs = parse_outputs(options.format, tuple(FORMATS))
    settings = _settings(options)
    watch = ProgressReporter(options.verbose, options.quiet)
    watch.note(f"settings: {settings.path or 'none found'}")
    if options.diff:
        return _show_fixes(options, settings, watch)
    if options.fix:
        _fix(options, settings, watch)
    result = _judged(_result(options, settings, watch), options)
    if options.suggest:
        from qcheck.pipeline.suggested import with_suggestions  # 5 ms

        result = with_suggestions(result, paths_for(options.paths, settings), settings, watch)
    watch("report", 0, 0)
    if any(output.format == "html" for output in outputs):
        result = _with_checkout(result, options)
    for output in outputs:
        write(output, _rendered(result, output, options))
    watch.close()
    if result.inputs.unjudged and is_on_github() and not any(o.format == "github" for o in outputs):
        annotate("could not judge everything:\n" + "\n".join(result.inputs.unjudged))
    elif result.inputs.unjudged and Output("text") not in outputs:
        complain("could not judge everything:\n" + "\n".join(result.inputs.unjudged))
    return 0 if options.exit_zero and result.exit_code == 1 else result.exit_code


def _with_checkout(result: Result, options: CheckOptions) -> Result:
    """Return the result with the repository and the commit, which the HTML page names."""
    from qcheck.pipeline.checkout import checkout  # starts git

    path = next((p for p in options.paths if p != "-"), ".")
    return replace(result, checkout=checkout(path))


def _result(options: CheckOptions, settings: Settings, watch: ProgressReporter) -> Result:
    """Return the result for the working files, or with the values of what-if options. Raises `UsageError`."""
    if not options.set and not options.add_nodes:
        return audited(options.paths, settings, watch, options.since, options.live)
    from qcheck.pipeline.what_if import Impossible, audit_what_if  # 1.1 ms

    if options.since is not None:
        raise UsageError("--set and --add-nodes cannot be combined with --since")
    paths, live = paths_for(options.paths, settings, options.live), running(options.live, watch)
    try:
        return audit_what_if(paths, settings, watch, live, (options.set, options.add_nodes))
    except Impossible as error:
        raise UsageError(str(error)) from None


def _show_fixes(options: CheckOptions, settings: Settings, watch: ProgressReporter) -> int:
    """Write a diff of what `--fix` would rewrite; return 1 if there is anything."""
    found = _fixes(options, settings, watch)
    watch.close()
    to_stdout("".join(fixed.diff() for fixed in found))
    return 1 if found and not options.exit_zero else 0


def _fix(options: CheckOptions, settings: Settings, watch: ProgressReporter) -> None:
    """Rewrite the files and list them. Raises `UsageError` at the end if a file could not be written."""
    from qcheck.pipeline.rewritten_file import write_all  # 1 ms

    written, left = write_all(_fixes(options, settings, watch))
    for fixed in written:
        say(f"rewrote {fixed.objects} object{'s' * (fixed.objects != 1)} in {fixed.path}")
    for each in left:
        if not each.is_error:
            say(f"{each.path} is not rewritten, because {each.why}")
    if failed := [f"{each.path} ({each.why})" for each in left if each.is_error]:
        raise UsageError(f"{len(failed)} file{'s' * (len(failed) != 1)} cannot be rewritten: {', '.join(failed)}")


def _fixes(options: CheckOptions, settings: Settings, watch: ProgressReporter) -> list[RewrittenFile]:
    """Return the files that `--fix` writes and `--diff` shows."""
    from qcheck.pipeline.fix import fixed_files  # 3 ms

    flag = "--diff" if options.diff else "--fix"
    if "-" in options.paths or options.since is not None:
        raise UsageError(f"{flag} cannot be combined with standard input or --since")
    if options.set or options.add_nodes:
        raise UsageError(f"{flag} cannot be combined with --set or --add-nodes")
    try:
        return fixed_files(paths_for(options.paths, settings), settings, watch)
    except BaselineError as error:
        raise UsageError(str(error)) from None


def _rendered(result: Result, output: Output, options: CheckOptions) -> str:
    """Return the report; only displayed text has colours."""
    if output.format != "text":
        return render(result, output.format)
    return text.render(result, output.file == STDOUT and wants_color(options.color, sys.stdout), options.quiet)


def _settings(options: CheckOptions) -> Settings:
    """Return the settings, overridden by the flags."""
    settings = settings_for(options.paths, options.config, options.cluster, options.live, options.render)
    select, ignore = words(options.select, "--select"), words(options.ignore, "--ignore")
    check_rules(select, "--select")
    check_rules(ignore, "--ignore")
    if select:
        scopes = tuple(replace(s, rules=replace(s.rules, select=())) for s in settings.scopes)
        settings = replace(settings, scopes=scopes, rules=replace(settings.rules, select=select))
    return replace(
        settings,
        rules=replace(settings.rules, ignore=(*settings.rules.ignore, *ignore)),
        baseline=os.path.relpath(options.baseline, settings.root) if options.baseline else settings.baseline,
    )


def _judged(result: Result, options: CheckOptions) -> Result:
    """Return the result with the threshold in the flags; with `--strict`, warnings fail as well."""
    asked = Severity(options.fail_on)
    lowered = Severity.WARNING if options.strict and asked is Severity.ERROR else asked
    view = View(everything=options.all, statistics=options.statistics)
    return replace(result, fail_on=lowered, strict=options.strict, view=view).from_severity(
        Severity(options.min_severity)
    )
