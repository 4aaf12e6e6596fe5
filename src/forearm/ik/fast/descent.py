"""One iteration of the descent: the error and the Jacobian at q, and the step. For floats and lanes alike.

The rotation error is the chord 2 sin(θ/2) along the axis of the rotation that is left, which needs no
arc function: vee(Rt Rᵀ - R Rtᵀ) / sqrt(1 + tr(Rt Rᵀ)).
"""

from __future__ import annotations

from forearm.ik.fast.layout import AXIS, FALL, HIGH, LOW, MAX_AGE, PATIENCE, POSE
from forearm.kinematics.compiling import lean
from forearm.kinematics.lanes import (
    absolute,
    fma,
    get,
    larger,
    nearest_whole,
    put,
    smaller,
    square_root,
    turned_by_quadrants,
    where,
)
from forearm.kinematics.links import COS, SIN, SLIDES, THETA, A, B, D

TWO_PI = 6.283185307179586
NEVER = 1e300
"""An error, or a cost, that anything improves on."""
HALF_TURN_GUARD = 1e-9
"""Keeps the chord finite at a half turn, where its direction is anyone's choice."""


@lean
def sine_cosine(x):
    """(sin x, cos x): the quarter turns taken off in two parts, then Cephes' polynomials on ±π/4."""
    quadrant = nearest_whole(x * 0.6366197723675814)
    r = fma(quadrant, -1.5707963267948966, x)
    r = fma(quadrant, -6.123233995736766e-17, r)
    z = r * r
    s = fma(z, 1.58962301576546568060e-10, -2.50507477628578072866e-8)
    s = fma(s, z, 2.75573136213857245213e-6)
    s = fma(s, z, -1.98412698295895385996e-4)
    s = fma(s, z, 8.33333333332211858878e-3)
    s = fma(s, z, -1.66666666666666307295e-1)
    c = fma(z, -1.13585365213876817300e-11, 2.08757008419747316778e-9)
    c = fma(c, z, -2.75573141792967388112e-7)
    c = fma(c, z, 2.48015872888517045348e-5)
    c = fma(c, z, -1.38888888888730564116e-3)
    c = fma(c, z, 4.16666666666665929218e-2)
    return turned_by_quadrants(quadrant, fma(s * z, r, r), fma(c * z, z, fma(z, -0.5, 1.0)))


@lean
def walk(n, table, q, columns):
    """Forward kinematics. Leaves each joint's origin and axis in ``columns``; returns the tip's frame."""
    zero = get(q, 0) * 0.0
    one = zero + 1.0
    xx, xy, xz = one, zero, zero
    yx, yy, yz = zero, one, zero
    zx, zy, zz = zero, zero, one
    px, py, pz = zero, zero, zero
    for i in range(n):
        put(columns, 6 * i, px)
        put(columns, 6 * i + 1, py)
        put(columns, 6 * i + 2, pz)
        put(columns, 6 * i + 3, zx)
        put(columns, 6 * i + 4, zy)
        put(columns, 6 * i + 5, zz)
        if table[i, SLIDES] == 0.0:
            s, c = sine_cosine(get(q, i) + table[i, THETA])
            d = zero + table[i, D]
        else:
            s, c = sine_cosine(zero + table[i, THETA])
            d = get(q, i) + table[i, D]
        a, b = table[i, A], table[i, B]
        ux, uy, uz = fma(c, xx, s * yx), fma(c, xy, s * yy), fma(c, xz, s * yz)
        vx, vy, vz = fma(c, yx, -(s * xx)), fma(c, yy, -(s * xy)), fma(c, yz, -(s * xz))
        px = fma(a, ux, fma(b, vx, fma(d, zx, px)))
        py = fma(a, uy, fma(b, vy, fma(d, zy, py)))
        pz = fma(a, uz, fma(b, vz, fma(d, zz, pz)))
        ca, sa = table[i, COS], table[i, SIN]
        xx, xy, xz = ux, uy, uz
        yx, yy, yz = fma(ca, vx, sa * zx), fma(ca, vy, sa * zy), fma(ca, vz, sa * zz)
        zx, zy, zz = fma(ca, zx, -(sa * vx)), fma(ca, zy, -(sa * vy)), fma(ca, zz, -(sa * vz))
    return xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz


@lean
def error_of(task, lever, target, tip):
    """The six errors, lengths in metres and rotations weighed, and whether a half turn is far.

    ``target`` holds the rotation by rows, then the position. ``AXIS`` compares the two z axes only.
    """
    xx, xy, xz, yx, yy, yz, zx, zy, zz, px, py, pz = tip
    e0, e1, e2 = get(target, 9) - px, get(target, 10) - py, get(target, 11) - pz
    cx, cy, cz = get(target, 2), get(target, 5), get(target, 8)
    vx = fma(zy, cz, -(zz * cy))
    vy = fma(zz, cx, -(zx * cz))
    vz = fma(zx, cy, -(zy * cx))
    cosine = fma(zx, cx, fma(zy, cy, zz * cz))
    scale = 1.4142135623730951
    if task == POSE:
        ax, ay, az = get(target, 0), get(target, 3), get(target, 6)
        bx, by, bz = get(target, 1), get(target, 4), get(target, 7)
        vx = fma(xy, az, fma(yy, bz, vx)) - fma(xz, ay, yz * by)
        vy = fma(xz, ax, fma(yz, bx, vy)) - fma(xx, az, yx * bz)
        vz = fma(xx, ay, fma(yx, by, vz)) - fma(xy, ax, yy * bx)
        cosine = fma(xx, ax, fma(xy, ay, fma(xz, az, fma(yx, bx, fma(yy, by, fma(yz, bz, cosine))))))
        scale = 1.0
    k = scale * lever / square_root(larger(cosine + 1.0, HALF_TURN_GUARD))
    return e0, e1, e2, vx * k, vy * k, vz * k, cosine


@lean
def finish_columns(n, table, task, lever, q, columns, tip, e0, e1, e2, e3, e4, e5):
    """Origins and axes become the Jacobian's columns; those that may not move become zero.

    A joint on its limit whose step would point outward is frozen for this step.
    """
    zx, zy, zz, px, py, pz = tip[6], tip[7], tip[8], tip[9], tip[10], tip[11]
    zero = px * 0.0
    for i in range(n):
        wx, wy, wz = get(columns, 6 * i + 3), get(columns, 6 * i + 4), get(columns, 6 * i + 5)
        if table[i, SLIDES] == 0.0:
            dx = px - get(columns, 6 * i)
            dy = py - get(columns, 6 * i + 1)
            dz = pz - get(columns, 6 * i + 2)
            j0, j1, j2 = fma(wy, dz, -(wz * dy)), fma(wz, dx, -(wx * dz)), fma(wx, dy, -(wy * dx))
            if task == AXIS:
                # Turning about the tip's own axis changes nothing that counts.
                along = fma(wx, zx, fma(wy, zy, wz * zz))
                wx, wy, wz = fma(-along, zx, wx), fma(-along, zy, wy), fma(-along, zz, wz)
            j3, j4, j5 = wx * lever, wy * lever, wz * lever
        else:
            j0, j1, j2 = wx, wy, wz
            j3, j4, j5 = zero, zero, zero
        g = fma(j0, e0, fma(j1, e1, j2 * e2)) + fma(j3, e3, fma(j4, e4, j5 * e5))
        qi = get(q, i)
        outward = ((qi <= table[i, LOW]) & (g < 0.0)) | ((qi >= table[i, HIGH]) & (g > 0.0))
        free = where(outward, zero, zero + 1.0)
        put(columns, 6 * i, j0 * free)
        put(columns, 6 * i + 1, j1 * free)
        put(columns, 6 * i + 2, j2 * free)
        put(columns, 6 * i + 3, j3 * free)
        put(columns, 6 * i + 4, j4 * free)
        put(columns, 6 * i + 5, j5 * free)


@lean
def damped_step(n, columns, step, damping, e0, e1, e2, e3, e4, e5):
    """Write Jᵀ (J Jᵀ + λ I)⁻¹ e into ``step``; returns its largest entry.

    J Jᵀ + λ I = [[P, Wᵀ], [W, R]] in blocks of three is eliminated block by block, P⁻¹ and the inverse
    of the Schur complement by cofactors: two divisions one after the other, where Cholesky has six.
    """
    zero = e0 * 0.0
    a00, a11, a22 = zero + damping, zero + damping, zero + damping
    a33, a44, a55 = zero + damping, zero + damping, zero + damping
    a10, a20, a21 = zero, zero, zero
    a30, a31, a32, a40, a41, a42, a50, a51, a52 = zero, zero, zero, zero, zero, zero, zero, zero, zero
    a43, a53, a54 = zero, zero, zero
    for i in range(n):
        j0, j1, j2 = get(columns, 6 * i), get(columns, 6 * i + 1), get(columns, 6 * i + 2)
        j3, j4, j5 = get(columns, 6 * i + 3), get(columns, 6 * i + 4), get(columns, 6 * i + 5)
        a00, a10, a11 = fma(j0, j0, a00), fma(j1, j0, a10), fma(j1, j1, a11)
        a20, a21, a22 = fma(j2, j0, a20), fma(j2, j1, a21), fma(j2, j2, a22)
        a30, a31, a32, a33 = fma(j3, j0, a30), fma(j3, j1, a31), fma(j3, j2, a32), fma(j3, j3, a33)
        a40, a41, a42, a43 = fma(j4, j0, a40), fma(j4, j1, a41), fma(j4, j2, a42), fma(j4, j3, a43)
        a44 = fma(j4, j4, a44)
        a50, a51, a52, a53 = fma(j5, j0, a50), fma(j5, j1, a51), fma(j5, j2, a52), fma(j5, j3, a53)
        a54, a55 = fma(j5, j4, a54), fma(j5, j5, a55)

    c00, c10, c20, c11, c21, c22 = inverted(a00, a10, a20, a11, a21, a22)
    w00, w01, w02 = times_symmetric(c00, c10, c20, c11, c21, c22, a30, a31, a32)
    w10, w11, w12 = times_symmetric(c00, c10, c20, c11, c21, c22, a40, a41, a42)
    w20, w21, w22 = times_symmetric(c00, c10, c20, c11, c21, c22, a50, a51, a52)
    d00, d10, d20, d11, d21, d22 = inverted(
        less_dot(a33, w00, w01, w02, a30, a31, a32),
        less_dot(a43, w10, w11, w12, a30, a31, a32),
        less_dot(a53, w20, w21, w22, a30, a31, a32),
        less_dot(a44, w10, w11, w12, a40, a41, a42),
        less_dot(a54, w20, w21, w22, a40, a41, a42),
        less_dot(a55, w20, w21, w22, a50, a51, a52),
    )
    f3 = less_dot(e3, w00, w01, w02, e0, e1, e2)
    f4 = less_dot(e4, w10, w11, w12, e0, e1, e2)
    f5 = less_dot(e5, w20, w21, w22, e0, e1, e2)
    x3, x4, x5 = times_symmetric(d00, d10, d20, d11, d21, d22, f3, f4, f5)
    x0, x1, x2 = times_symmetric(c00, c10, c20, c11, c21, c22, e0, e1, e2)
    x0 = less_dot(x0, w00, w10, w20, x3, x4, x5)
    x1 = less_dot(x1, w01, w11, w21, x3, x4, x5)
    x2 = less_dot(x2, w02, w12, w22, x3, x4, x5)

    largest = zero
    for i in range(n):
        above = fma(get(columns, 6 * i), x0, fma(get(columns, 6 * i + 1), x1, get(columns, 6 * i + 2) * x2))
        below = fma(
            get(columns, 6 * i + 3), x3, fma(get(columns, 6 * i + 4), x4, get(columns, 6 * i + 5) * x5)
        )
        change = above + below
        put(step, i, change)
        largest = larger(largest, absolute(change))
    return largest


@lean
def inverted(a00, a10, a20, a11, a21, a22):
    """The inverse of a symmetric 3x3 matrix, by cofactors."""
    c00 = fma(a11, a22, -(a21 * a21))
    c10 = fma(a20, a21, -(a10 * a22))
    c20 = fma(a10, a21, -(a20 * a11))
    c11 = fma(a00, a22, -(a20 * a20))
    c21 = fma(a10, a20, -(a00 * a21))
    c22 = fma(a00, a11, -(a10 * a10))
    inverse = 1.0 / fma(a00, c00, fma(a10, c10, a20 * c20))
    return c00 * inverse, c10 * inverse, c20 * inverse, c11 * inverse, c21 * inverse, c22 * inverse


@lean
def times_symmetric(c00, c10, c20, c11, c21, c22, x, y, z):
    return (
        fma(c00, x, fma(c10, y, c20 * z)),
        fma(c10, x, fma(c11, y, c21 * z)),
        fma(c20, x, fma(c21, y, c22 * z)),
    )


@lean
def less_dot(start, a, b, c, x, y, z):
    """start - (a x + b y + c z)."""
    return fma(-a, x, fma(-b, y, fma(-c, z, start)))


@lean
def patience_after(table, settings, error, arrived, age, patience, before):
    """An attempt's age, steps since the last look and error then, after a step; and whether it ends.

    It ends where it has arrived, where |e|² has not fallen enough between two looks, and of old age.
    """
    zero = error * 0.0
    age, patience = age + 1.0, patience + 1.0
    due = patience >= table[settings, PATIENCE]
    lost = (due & (error > table[settings, FALL] * before)) | (age >= table[settings, MAX_AGE]) | arrived
    age = where(lost, zero, age)
    patience = where(lost | due, zero, patience)
    before = where(lost, zero + NEVER, where(due, error, before))
    return age, patience, before, lost


@lean
def move(n, table, q, step, largest, most):
    """Take the step, shortened as a whole so that no joint moves more than ``most``, within the limits.

    A joint that leaves its range re-enters it a full turn away where the range is that wide.
    """
    scale = where(largest > most, most / largest, largest * 0.0 + 1.0)
    for i in range(n):
        value = fma(scale, get(step, i), get(q, i))
        low, high = table[i, LOW], table[i, HIGH]
        if table[i, SLIDES] == 0.0:
            value = where((value > high) & (value - TWO_PI >= low), value - TWO_PI, value)
            value = where((value < low) & (value + TWO_PI <= high), value + TWO_PI, value)
        put(q, i, smaller(larger(value, low), high))
