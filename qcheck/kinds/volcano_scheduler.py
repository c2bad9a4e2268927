"""The configuration of Volcano's scheduler: a file of its own, text in its ConfigMap, or a string in Helm values."""

from __future__ import annotations

import posixpath

from qcheck.cluster.problems import Problem, ProblemCode
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.cluster.volcano import SchedulerPlugin, VolcanoScheduler
from qcheck.documents.cursor import root
from qcheck.documents.embedded import NotYaml, embedded_roots
from qcheck.kinds.decode import mentions_volcano_scheduler
from qcheck.kinds.shared_fields import object_id, place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from qcheck.cluster.objects import ObjectId
    from qcheck.documents.cursor import Cursor
    from qcheck.documents.document import Document

KEY = "volcano-scheduler.conf"
"""The key in the ConfigMap from which the scheduler reads."""
ACTIONS = frozenset({"enqueue", "allocate", "backfill", "preempt", "reclaim", "shuffle", "gangpreempt", "gangreclaim"})


def read_scheduler(documents: Iterable[Document], wanted: str | None) -> tuple[VolcanoScheduler | None, list[Problem]]:
    """Return the configuration of a cluster, and the problems that keep the scheduler from starting.

    `wanted` is the file that the settings name; without it, the ConfigMap with the scheduler's key has precedence.
    """
    found: list[tuple[int, Cursor, ObjectId]] = []
    problems: list[Problem] = []
    for document in documents:
        top = root(document)
        for rank, at in _candidates(top, problems):
            rank = -1 if wanted is not None and posixpath.normpath(document.path) == wanted else rank
            found.append((rank, at, object_id(top)))
    if not found:
        return None, problems
    _, chosen, holder = min(found, key=lambda f: f[0])
    problems += _faults(chosen, holder)
    return _decode(chosen, holder), problems


def _candidates(top: Cursor, problems: list[Problem]) -> Iterator[tuple[int, Cursor]]:
    """Yield the configurations in a document, each with a rank; the lowest is most likely the scheduler's own."""
    if _is_configuration(top):
        yield 1, top
        return
    for text, inner in embedded_roots(top, mentions_volcano_scheduler):
        is_own = text.route[-1] == KEY
        if not isinstance(inner, NotYaml):
            if _is_configuration(inner):
                yield (0 if is_own else 2), inner
        elif is_own:
            problems.append(
                Problem(
                    code=ProblemCode.CONFIGURATION_REJECTED,
                    place=place(text),
                    message=f"the configuration of Volcano's scheduler is not valid YAML: {inner}",
                    object=object_id(top),
                    data={"check": "VS-YAML"},
                )
            )


def _is_configuration(at: Cursor) -> bool:
    return isinstance(at["actions"].data, str) and isinstance(at["tiers"].data, list) and not at["kind"].exists


def _decode(at: Cursor, holder: ObjectId) -> VolcanoScheduler:
    actions = tuple(a.strip() for a in at.text_at("actions").split(",") if a.strip())
    plugins = tuple(
        _plugin(p, tier) for tier, each in enumerate(at.items_at("tiers")) for p in each.items_at("plugins")
    )
    return VolcanoScheduler(
        actions=actions,
        plugins=plugins,
        place=place(at),
        actions_place=place(at["actions"]),
        object=holder if holder.kind else None,
    )


def _plugin(at: Cursor, tier: int) -> SchedulerPlugin:
    return SchedulerPlugin(
        name=at.text_at("name"),
        tier=tier,
        place=place(at),
        options={key: value.data for key, value in at.mapping() if isinstance(value.data, bool)},
        arguments=at["arguments"].strings(),
    )


def _faults(at: Cursor, holder: ObjectId) -> Iterator[Problem]:
    """Yield a problem for each unknown action: the scheduler keeps its previous or default configuration."""
    for name in at.text_at("actions").split(","):
        if name.strip() not in ACTIONS:
            yield Problem(
                code=ProblemCode.CONFIGURATION_REJECTED,
                place=place(at["actions"]),
                message=f"Volcano's scheduler has no action {name.strip()!r}, and does not use a configuration that "
                "names one",
                help=f"Write actions among {', '.join(sorted(ACTIONS))}.",
                object=holder if holder.kind else None,
                related=(),
                data={"check": "VS-ACTION", "field": "actions"},
            )
