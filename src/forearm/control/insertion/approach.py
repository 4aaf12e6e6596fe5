"""From where the joints are to a gate that moves: quintics, no faster than speeds and torques allow.

A quintic joins position, speed and acceleration at both ends, so that the tool arrives with the gate's own
velocity and acceleration. Its time is the shortest for which no joint passes its speed limit or its torque
limit, both taken with a margin for what is not known of the arm.
"""

from __future__ import annotations

from forearm.control.torque import BODIES, CHAIN, JOINTS, SCRATCH, torque_for_into
from forearm.kinematics.compiling import lean

SPEED_SHARE = 0.95
TORQUE_SHARE = 0.85
SAMPLES = 14
"""Points of a quintic at which torques are looked at."""


@lean
def quintic_into(begin, end, duration, n, coefficients):
    """The coefficients (6, n) of the quintics from ``begin`` to ``end``: q, q̇, q̈ as rows (3, n).

    In s = t / duration, so that they stay of one size.
    """
    t = duration
    for i in range(n):
        p0, v0, a0 = begin[0, i], t * begin[1, i], t * t * begin[2, i]
        p1, v1, a1 = end[0, i], t * end[1, i], t * t * end[2, i]
        gap = p1 - p0
        coefficients[0, i] = p0
        coefficients[1, i] = v0
        coefficients[2, i] = 0.5 * a0
        coefficients[3, i] = 10.0 * gap - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1
        coefficients[4, i] = -15.0 * gap + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1
        coefficients[5, i] = 6.0 * gap - 3.0 * (v0 + v1) - 0.5 * (a0 - a1)


@lean
def quintic_at(coefficients, duration, elapsed, n, joints):
    """q, q̇, q̈ as the rows of ``joints``, that long after the begin."""
    s = min(elapsed / duration, 1.0)
    for i in range(n):
        c0, c1, c2 = coefficients[0, i], coefficients[1, i], coefficients[2, i]
        c3, c4, c5 = coefficients[3, i], coefficients[4, i], coefficients[5, i]
        joints[0, i] = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
        joints[1, i] = (c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + 5.0 * s * c5)))) / duration
        joints[2, i] = (2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + 20.0 * s * c5))) / (duration * duration)


@lean
def strain(sheets, limits, coefficients, duration, n, joints, tau):
    """The largest share of a limit that the quintics use, margins included: 1 is just allowed.

    ``limits`` has the joints' speeds and torques as its rows.
    """
    worst = 0.0
    for sample in range(1, SAMPLES + 1):
        quintic_at(coefficients, duration, sample * duration / SAMPLES, n, joints)
        torque_for_into(
            sheets[CHAIN],
            sheets[BODIES],
            sheets[JOINTS],
            joints[0],
            joints[1],
            joints[2],
            sheets[SCRATCH],
            tau,
        )
        for i in range(n):
            worst = max(
                worst,
                abs(joints[1, i]) / (SPEED_SHARE * limits[0, i]),
                abs(tau[i]) / (TORQUE_SHARE * limits[1, i]),
            )
    return worst
