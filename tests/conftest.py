"""No test may fail because the machine is busy: Hypothesis neither times examples nor judges how fast they are drawn.

In CI it draws the same examples every time, so that nobody's change fails on what another draw would have found.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "busy machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("busy machine")

os.environ.pop("GITHUB_ACTIONS", None)  # under it errors are annotations as well
