"""The product of exponentials for many joint vectors side by side, for the gate's judgement of batches.

The sine and cosine are not the solvers': Taylor's series at an eighth of the angle, then three doublings.
"""

from __future__ import annotations

from forearm.kinematics.compiling import lean
from forearm.kinematics.lanes import fma, get, nearest_whole
from forearm.kinematics.screws import SLIDES


@lean
def sine_versine(x):
    """(sin x, 1 - cos x), by sin 2t = 2 sin t (1 - v) and v(2t) = 2 sin² t."""
    turns = nearest_whole(x * 0.15915494309189535)
    t = 0.125 * fma(turns, -2.4492935982947064e-16, fma(turns, -6.283185307179586, x))
    z = t * t
    s = fma(z, 1.0 / 6227020800.0, -1.0 / 39916800.0)
    s = fma(s, z, 1.0 / 362880.0)
    s = fma(s, z, -1.0 / 5040.0)
    s = fma(s, z, 1.0 / 120.0)
    s = fma(s, z, -1.0 / 6.0)
    s = fma(s * z, t, t)
    v = fma(z, 1.0 / 87178291200.0, -1.0 / 479001600.0)
    v = fma(v, z, 1.0 / 3628800.0)
    v = fma(v, z, -1.0 / 40320.0)
    v = fma(v, z, 1.0 / 720.0)
    v = fma(v, z, -1.0 / 24.0)
    v = fma(v, z, 0.5) * z
    for _ in range(3):
        s, v = 2.0 * s * (1.0 - v), 2.0 * s * s
    return s, v


@lean
def turned_lanes(ax, ay, az, sine, versine, x, y, z):
    """Rodrigues: v + (a x v) sin + a x (a x v) (1 - cos)."""
    cx, cy, cz = ay * z - az * y, az * x - ax * z, ax * y - ay * x
    return (
        fma(ay * cz - az * cy, versine, fma(cx, sine, x)),
        fma(az * cx - ax * cz, versine, fma(cy, sine, y)),
        fma(ax * cy - ay * cx, versine, fma(cz, sine, z)),
    )


@lean
def replay_lanes(screws, q):
    """The tip's pose in the base, for the joint vectors in the slots ``q``: the matrix's rows, 12 numbers."""
    n = screws.shape[0] - 4
    zero = get(q, 0) * 0.0
    xx, yx, zx, px = zero + screws[n, 0], zero + screws[n, 1], zero + screws[n, 2], zero + screws[n, 3]
    xy, yy, zy, py = (
        zero + screws[n + 1, 0],
        zero + screws[n + 1, 1],
        zero + screws[n + 1, 2],
        zero + screws[n + 1, 3],
    )
    xz, yz, zz, pz = (
        zero + screws[n + 2, 0],
        zero + screws[n + 2, 1],
        zero + screws[n + 2, 2],
        zero + screws[n + 2, 3],
    )
    for i in range(n - 1, -1, -1):
        ax, ay, az = screws[i, 0], screws[i, 1], screws[i, 2]
        if screws[i, SLIDES] != 0.0:
            px, py, pz = fma(get(q, i), ax, px), fma(get(q, i), ay, py), fma(get(q, i), az, pz)
            continue
        sine, versine = sine_versine(get(q, i))
        ox, oy, oz = screws[i, 3], screws[i, 4], screws[i, 5]
        xx, xy, xz = turned_lanes(ax, ay, az, sine, versine, xx, xy, xz)
        yx, yy, yz = turned_lanes(ax, ay, az, sine, versine, yx, yy, yz)
        zx, zy, zz = turned_lanes(ax, ay, az, sine, versine, zx, zy, zz)
        px, py, pz = turned_lanes(ax, ay, az, sine, versine, px - ox, py - oy, pz - oz)
        px, py, pz = px + ox, py + oy, pz + oz
    return xx, yx, zx, px, xy, yy, zy, py, xz, yz, zz, pz
