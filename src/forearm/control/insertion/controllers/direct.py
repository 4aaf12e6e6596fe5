"""The source's own error function: always at the point past the mouth."""

from __future__ import annotations

from forearm.control.insertion.inserter import register
from forearm.control.insertion.source import PAST_MOUTH_M, SourceInserter


@register
class Direct(SourceInserter):
    """Always 0.02 m past the mouth, whatever stands in the way."""

    name = "direct"
    summary = "the source's custom error function: always aims past the mouth"
    phases = ("push",)

    def aim(self, now_s: float) -> tuple[int, float]:  # noqa: ARG002 - the clock plays no part
        return 0, PAST_MOUTH_M
