"""The phases of the predictive controller, and what leads from one to the next.

    look ─planned▶ approach ──arrived──▶ align ──aligned──▶ push ──in place─▶ seat
     ▲                                     ▲ │                │                │
     └──────────────lost sight─────────────┼─┘                │ missed, jammed,│ no plate
                                           │                  │ slipped        │
                       give up ◀──────── back out ◀───────────┴────────────────┘
                          tried often enough

    look ──no way within the limits──▶ give up ◀──waited in vain── approach, align

Everything a transition depends on is an argument of ``next_phase``.
"""

from __future__ import annotations

from forearm.kinematics.compiling import lean

PHASES = ("look", "approach", "align", "push", "seat", "back out", "give up")
LOOK, APPROACH, ALIGN, PUSH, SEAT, BACK_OUT, GIVE_UP = range(len(PHASES))

# Places in ``inserter.REASONS``.
NONE, IN_PLACE, MISSED, JAMMED, SLIPPED, NO_PLATE, LOST, TRIED, NO_WAY, IN_VAIN = range(10)

ENTERED_M = 0.003
"""Deeper than this the tool's end is in the hole; not as deep, it stands before the mouth."""
NEAR_PLATE_M = 0.002
"""As near to the plate, the tool is about to touch it."""
SLOW_PUSH_S = 1.0
SEATED_S = 0.25
"""A plate that does not say so within this time was none."""
MOST_ATTEMPTS = 4
"""What has gone wrong so often is not a matter of luck."""


@lean
def next_phase(
    phase,
    in_phase_s,
    planned,
    sighted,
    hopeless,
    late,
    arrived,
    aligned,
    strayed,
    blocked,
    depth_m,
    plate_m,
    at_gate,
    attempts,
):
    """The phase that follows, and why.

    Args:
        in_phase_s: how long the phase has lasted.
        planned: whether the box's motion is known well enough, and there is a way to the gate.
        sighted: whether it is known at all.
        hopeless: whether no way to the gate within the arm's limits has been found for long.
        late: whether the trial has gone on for longer than waiting may help.
        arrived: whether the approach has come to its end.
        aligned: whether tool and hole, and what is known of it, fit within the play.
        strayed: whether they are so far apart that the tool would not pass the mouth.
        blocked: whether something is felt in the way, or the box is seen to give way.
        depth_m: how far past the mouth the tool's end is; the plate lies at ``plate_m``.
        at_gate: whether the way back has come to its end.
        attempts: how often it has backed out.
    """
    if phase == LOOK:
        if hopeless:
            return GIVE_UP, NO_WAY
        return (APPROACH, NONE) if planned else (LOOK, NONE)
    if phase == APPROACH:
        if late:
            return GIVE_UP, IN_VAIN
        return (ALIGN, NONE) if arrived else (APPROACH, NONE)
    if phase == ALIGN:
        if late:
            return GIVE_UP, IN_VAIN
        if not sighted:
            return LOOK, LOST
        return (PUSH, NONE) if aligned and not blocked else (ALIGN, NONE)
    if phase == PUSH:
        if depth_m > plate_m - NEAR_PLATE_M:
            return SEAT, IN_PLACE
        if blocked or in_phase_s > SLOW_PUSH_S:
            return BACK_OUT, (JAMMED if depth_m > ENTERED_M else MISSED)
        if strayed and depth_m < ENTERED_M:
            return BACK_OUT, SLIPPED
        return PUSH, NONE
    if phase == SEAT:
        return (BACK_OUT, NO_PLATE) if in_phase_s > SEATED_S else (SEAT, NONE)
    if phase == GIVE_UP or not at_gate:
        return phase, NONE
    return (ALIGN, NONE) if attempts < MOST_ATTEMPTS else (GIVE_UP, TRIED)
