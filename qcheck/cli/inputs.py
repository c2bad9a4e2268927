"""Settings and paths from the command line, shared by all commands that read inputs."""

from __future__ import annotations

from qcheck.api import audit
from qcheck.cli.output import UsageError
from qcheck.cli.signals import end_tidily
from qcheck.cluster.value import TYPE_CHECKING, replace
from qcheck.findings.catalogue import choose, load_catalogue
from qcheck.findings.result import BaselineError
from qcheck.findings.settle import overrides
from qcheck.settings.load import load_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from qcheck.cluster.place import Route
    from qcheck.findings.result import Result
    from qcheck.pipeline.live import Live
    from qcheck.pipeline.read import Watch
    from qcheck.settings import ClusterScope, RuleChoice, Settings


def settings_for(
    paths: Sequence[str],
    config: str | None,
    clusters: Sequence[str] = (),
    live: str | None = None,
    renders_all: bool = False,
    near: Sequence[str] = (),
) -> Settings:
    """Return the settings for `paths`, narrowed to the named clusters or to the one read from a running cluster.

    With `renders_all` each cluster renders what it finds. Without paths, settings are searched for beside the files in
    `near`. Raises `SettingsError` and `UsageError`.
    """
    settings = load_settings(next((path for path in (*paths, *near) if path != "-"), "."), config)
    check_settings(settings)
    if renders_all:
        settings = replace(settings, scopes=tuple(replace(s, renders_all=True) for s in settings.scopes))
    if clusters:
        settings = replace(settings, scopes=tuple(_named(settings, name) for name in clusters), narrowed=True)
    if live is not None:
        scope = _running(settings, live)
        rendered = scope if paths else replace(scope, render=(), renders_all=False)
        settings = replace(settings, scopes=(rendered,), narrowed=settings.narrowed or len(settings.scopes) > 1)
    if settings.renders:
        end_tidily()
    return settings


def _named(settings: Settings, name: str) -> ClusterScope:
    for scope in settings.scopes:
        if scope.name == name:
            return scope
    known = ", ".join(scope.name for scope in settings.scopes)
    raise UsageError(f"{settings.path or 'the current directory'} has no cluster {name!r}", f"Clusters: {known}.")


def _running(settings: Settings, context: str) -> ClusterScope:
    """Return the cluster of the settings that a context refers to: the only one, else the one with that name."""
    first, *more = settings.scopes
    if not more:
        return replace(first, name=context or first.name) if settings.path is None else first
    if any(scope.name == context for scope in settings.scopes):
        return _named(settings, context)
    known = ", ".join(scope.name for scope in settings.scopes)
    where = settings.path or "the settings"
    raise UsageError(f"{where} has several clusters, and --live reads one", f"Pass --cluster NAME, one of {known}.")


def paths_for(paths: Sequence[str], settings: Settings, live: str | None = None) -> tuple[str, ...]:
    """Return the given paths, else the root of the settings (the current directory without settings).

    Return no paths if only a running cluster is read.
    """
    return tuple(paths) or (() if live is not None else (settings.root,))


def running(live: str | None, watch: Watch) -> Live | None:
    """Return the running cluster that `--live` names; None if the option was not given."""
    if live is None:
        return None
    from qcheck.pipeline.live import read_live  # 12 ms

    end_tidily()
    return read_live(live, watch)


def audited(
    paths: Sequence[str], settings: Settings, watch: Watch, since: str | None = None, live: str | None = None
) -> Result:
    """Return the result of a run over the given paths; only new findings if a revision is given.

    Raises `UsageError` for a baseline that cannot be used, and for a revision that git does not know.
    """
    try:
        if since is not None:
            return _since(since, paths, settings, watch)
        return audit(paths_for(paths, settings, live), settings, watch, running(live, watch))
    except BaselineError as error:
        raise UsageError(str(error)) from None


def _since(revision: str, paths: Sequence[str], settings: Settings, watch: Watch) -> Result:
    from qcheck.pipeline.diff import check_since  # 7 ms
    from qcheck.sources.git import GitError  # 7 ms

    if "-" in paths:
        raise UsageError(
            "--since cannot be combined with standard input", "Pass files or directories of a git repository."
        )
    try:
        return check_since(revision, paths_for(paths, settings), settings, watch)
    except GitError as error:
        raise UsageError(str(error), error.hint) from None


def stop_if_unjudged(unjudged: Sequence[str]) -> None:
    """Raise `UsageError` if the run could not judge everything; its results have been written by then."""
    if unjudged:
        raise UsageError("could not judge everything:\n" + "\n".join(unjudged))


def check_rules(named: Iterable[str], where: str) -> None:
    """Raise `UsageError` if a word names no rule: a typo must not silently disable a rule."""
    asked = tuple(named)
    if not asked:
        return
    catalogue = load_catalogue()
    _, unknown = choose(catalogue.values(), asked)
    if unknown:
        from qcheck.cli.rules import no_such_rule  # 25 ms

        error = no_such_rule(catalogue, unknown[0])
        raise UsageError(f"{where}: {error}", error.hint)


def check_settings(settings: Settings) -> None:
    """Raise `UsageError` if the settings give a rule an unknown parameter, or a parameter of the wrong type."""
    if settings.path is None:
        return
    for route, choice in settings.choices():
        if choice.params:
            _check_params(choice, settings.path, route)


def _check_params(choice: RuleChoice, path: str, route: Route) -> None:
    from qcheck.settings.read import line_of  # 3.0 ms

    catalogue = load_catalogue()
    written = {word: (word, params) for word, params in choice.params.items()}
    for identifier, (word, params) in sorted(overrides(catalogue, written).items()):
        for name, value in params.items():
            error, hint = _param_error(catalogue[identifier].params, name, value)
            if error:
                where = line_of(path, (*route, "params", word, name))
                raise UsageError(f"{where}: rules.params: {identifier}{error}", hint)


def _param_error(known: Mapping[str, object], name: str, value: object) -> tuple[str, str]:
    """Return the fault of a rule's parameter and its fix; empty strings if it is valid."""
    if name not in known:
        return f" has no parameter {name!r}", f"It has: {', '.join(known) or 'none'}."
    if not isinstance(value, (str, int) if isinstance(known[name], str) else type(known[name])):
        return f": {name} is {value!r}; it should be like its default, {known[name]!r}", ""
    return _duration_error(known[name], name, value)


def _duration_error(default: object, name: str, value: object) -> tuple[str, str]:
    """Return the fault of a duration, or of a list with durations such as RayJob=60s; empty strings if there is none."""
    from qcheck.schedulers.kueue.preemption_cost import seconds  # 1 ms

    wants_duration = isinstance(default, str) and seconds(default) is not None
    texts = [value] if wants_duration else [each.partition("=")[2] for each in value] if isinstance(value, list) else []
    wrong = next((each for each in texts if isinstance(each, str) and seconds(each) is None), None)
    if wrong is None:
        return "", ""
    return f": {name} has {wrong!r}, which is not a duration", "Write 90s, 5m or 1h30m."
