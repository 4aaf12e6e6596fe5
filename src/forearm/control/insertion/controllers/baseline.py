"""The source's default: wait before the hole by the clock, then go in by the clock."""

from __future__ import annotations

import math

from forearm.control.insertion.inserter import register
from forearm.control.insertion.source import (
    BEFORE_MOUTH_M,
    PAST_MOUTH_M,
    PUSH_S,
    WAIT_S,
    SourceInserter,
)


@register
class Baseline(SourceInserter):
    """0.15 m before the hole for 3 s, then for 5 s along half a cosine to 0.02 m past the mouth."""

    name = "baseline"
    summary = "the source's default error function: waits 3 s before the hole, then pushes for 5 s"
    phases = ("wait", "push", "hold")

    def aim(self, now_s: float) -> tuple[int, float]:
        if now_s < WAIT_S:
            return 0, -BEFORE_MOUTH_M
        share = min((now_s - WAIT_S) / PUSH_S, 1.0)
        way = 0.5 * (1.0 - math.cos(math.pi * share))
        return (1 if share < 1.0 else 2), -BEFORE_MOUTH_M + way * (BEFORE_MOUTH_M + PAST_MOUTH_M)
