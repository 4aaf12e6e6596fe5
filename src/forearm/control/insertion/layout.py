"""Where the predictive controller keeps what it knows: sheets and rows of flat arrays, for compiled code."""

from __future__ import annotations

# Rows of ``states``: where the IK's searches stand, and the posture that they begin from.
RIDING, PLANNING, POSTURE, AHEAD = range(4)
# Sheets of ``work``.
CORE, MOTION, RIDE, NOW, GOAL, TRIAL, QUINTIC, LIMITS, FEELING, START, TRIED, AHEAD_RIDE, TRANSFORM = range(
    13
)
SHEETS, ROWS, COLUMNS = 13, 8, 16
ROOM_SHEETS = 6
# Rows of CORE.
STATUS, TURN_IN_BOX, CHANNELS, FRAME, TAU = range(5)
# Numbers of STATUS.
(
    CURRENT,
    SINCE,
    BEGAN,
    DURATION,
    ALONG,
    RATE,
    SURGE,
    PUSHED,
    TRUST_AFTER,
    FORCE,
    TICKS,
    SOLVED,
    ATTEMPTS,
    FRUITLESS,
    PACE,
) = range(15)
# Numbers of ``settings``.
DT, PLAY, PLATE, IK_SLACK, BANDWIDTH = range(5)
