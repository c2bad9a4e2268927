"""A simulated run as a page: a lane per queue with its devices over time, and the steps below."""

from __future__ import annotations

from qcheck import __version__
from qcheck.answers.simulated_queues import simulated_queues
from qcheck.cluster.units import name_amount
from qcheck.cluster.value import TYPE_CHECKING
from qcheck.reports.html import document
from qcheck.reports.html.markup import Html, tag
from qcheck.reports.simulation import clock, ending, steps
from qcheck.reports.wording import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from qcheck.answers.simulated import Simulated
    from qcheck.answers.simulated_queues import SimulatedQueue, UsageStep

WIDTH, HEIGHT = 1000, 90
"""The size of a lane's picture, in SVG units."""
MOST_STEPS = 1000
"""The number of changes that a lane draws; beyond it, the lane is sampled at this many moments."""
COLOURS = ("green", "orange", "blue line")
STYLE = (
    "text{font:16px sans-serif;fill:#6b6f76} svg svg{background:#f4f2ec} .lane-own{fill:#6b9b7d} .lane-borrowed{fill:#c9a15f}"
    " .lane-waiting{fill:none;stroke:#1f5f99;stroke-width:2} .lane-preempted{stroke:#b3261e;stroke-width:2;"
    "stroke-dasharray:4 4}"
)
LEGEND = (("own", "own quota"), ("borrowed", "borrowed"), ("waiting", "asked for by waiting workloads"))


def render(run: Simulated) -> str:
    """Return the complete page."""
    found = simulated_queues(run)
    body = tag(
        "main",
        tag(
            "header",
            tag("h1", "qcheck simulate"),
            tag("p", f"{run.title}, {plural(len(run.jobs), 'workload')}", cls="verdict"),
            cls="top",
        ),
        tag("div", [_key(cls, words) for cls, words in LEGEND], cls="legend"),
        [_lane(run, lane) for lane in found],
        tag("h2", "Steps"),
        tag("pre", "\n".join([*steps(run), "", *ending(run)]), cls="steps"),
        tag("ul", [tag("li", f"not simulated: {what}") for what in run.not_simulated], cls="quiet"),
        tag("footer", f"qcheck {__version__}"),
    )
    return document("qcheck simulate", body)


def _key(cls: str, words: str) -> Html:
    picture = tag("svg", tag("rect", width=12, height=12, cls=f"lane-{cls}"), width=12, height=12, aria_hidden="true")
    return tag("span", picture, f" {words}")


def _lane(run: Simulated, lane: SimulatedQueue) -> Html:
    used = f"{float(lane.device_hours):,.1f} device-hours"
    words = f"{used}, waited {clock(lane.waited)[1:]}, preempted {plural(lane.preempted, 'time')}"
    tallest = _tallest(lane)
    top = f"up to {name_amount(lane.resource, tallest)}"
    return tag(
        "section",
        tag("div", tag("b", lane.queue), tag("span", words, cls="quiet"), tag("span", top, cls="chip"), cls="bar-name"),
        _picture(run, lane, max(1, tallest)),
        tag("div", tag("span", clock(0)), tag("span", clock(_length(run)), cls="end"), cls="where axis"),
        cls="lane",
    )


def _length(run: Simulated) -> int:
    return max(1, run.timeline.end - run.timeline.start)


def render_svg(run: Simulated) -> str:
    """Return only the lanes, as one picture with embedded colours."""
    found = simulated_queues(run)
    row = HEIGHT + 34
    drawn = [
        tag(
            "g",
            tag("text", _caption(lane), x=0, y=at * row + 18),
            _picture(
                run, lane, max(1, _tallest(lane)), x="0", y=str(at * row + 26), width=str(WIDTH), height=str(HEIGHT)
            ),
        )
        for at, lane in enumerate(found)
    ]
    legend = "; ".join(f"{colour}: {words}" for colour, (_, words) in zip(COLOURS, LEGEND, strict=True))
    foot = tag("text", f"{clock(0)} to {clock(_length(run))}. {legend}", x=0, y=len(found) * row + 20)
    size = f"0 0 {WIDTH} {len(found) * row + 34}"
    return tag("svg", tag("style", STYLE), drawn, foot, xmlns="http://www.w3.org/2000/svg", viewBox=size) + "\n"


def _tallest(lane: SimulatedQueue) -> int:
    return max((s.tallest for s in lane.steps), default=0)


def _caption(lane: SimulatedQueue) -> str:
    return f"{lane.queue}: up to {name_amount(lane.resource, _tallest(lane))}"


def _picture(run: Simulated, lane: SimulatedQueue, tallest: int, **where: str) -> Html:
    shown = _thinned(lane.steps)
    marks = [s for s in run.timeline.spans if s.preempted_by and s.job.queue == lane.queue][:MOST_STEPS]

    def x(at: int) -> int:
        return (at - run.timeline.start) * WIDTH // _length(run)

    def path(value: Callable[[UsageStep], int]) -> str:
        return _outline([(x(s.at), HEIGHT - value(s) * (HEIGHT - 4) // tallest) for s in shown])

    return tag(
        "svg",
        tag("path", d=f"{path(lambda s: s.own + s.borrowed)} V{HEIGHT} H0 Z", cls="lane-borrowed"),
        tag("path", d=f"{path(lambda s: s.own)} V{HEIGHT} H0 Z", cls="lane-own"),
        tag("path", d=path(lambda s: s.waiting), cls="lane-waiting"),
        [
            tag(
                "line",
                tag("title", f"{s.job.name} preempted by {s.preempted_by}"),
                x1=x(s.end or 0),
                x2=x(s.end or 0),
                y1=0,
                y2=HEIGHT,
                cls="lane-preempted",
            )
            for s in marks
        ],
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        aria_label=f"{lane.queue}: {lane.resource} over time",
        **where,
    )


def _outline(points: Sequence[tuple[int, int]]) -> str:
    """Return a step curve through the points, from the left edge to the right edge."""
    drawn = [f"M0,{HEIGHT}"]
    for x, y in points:
        drawn.append(f"H{x} V{y}")
    return " ".join([*drawn, f"H{WIDTH}"])


def _thinned(found: Sequence[UsageStep]) -> Sequence[UsageStep]:
    if len(found) <= MOST_STEPS:
        return found
    return [found[i * len(found) // MOST_STEPS] for i in range(MOST_STEPS)]
