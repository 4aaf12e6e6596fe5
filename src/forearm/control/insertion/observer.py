"""How the box moves, from readings that are noisy, late and sometimes missing.

The box is taken for something that swings about a place of rest: every channel c of its pose is

    y_c(τ) = o_c + a_c sin ωτ + b_c (cos ωτ - 1),      τ = t - t_now,

with one ω for all. For a given ω this is linear: with a prior of N(0, σ_A²) on a and b the best o, a, b and
the evidence for ω come from a 3x3 system that all channels share,

    A = Σ φ φᵀ + Λ,   β_c = Σ φ y_c,   J(ω) = Σ_c w_c (Σ y_c² - β_cᵀ A⁻¹ β_c),
    log p(y | ω) = -J/2 - C/2 log det A + ...

Readings are averaged over blocks of a few ticks. A bank of frequencies, from standing still to the fastest,
is kept up block by block and says where to look; there a parabola through the evidence at three frequencies
gives ω and its standard deviation. What is not known yet is not guessed: as long as the arc that was seen
is short, low frequencies fit alike, the prediction is that of a parabola, and its standard deviation grows
with the time ahead.
"""

from __future__ import annotations

import math

import numpy as np

from forearm.control.insertion.seen import CHANNELS, YAW, channels_into
from forearm.kinematics.compiling import inlined, lean
from forearm.spatial import Array

BLOCK_S = 0.005
"""Readings of this long are averaged to one."""
WINDOW = 240
"""Blocks that are remembered: 1.2 s."""
LOWEST_HZ, HIGHEST_HZ, BANK = 0.05, 4.0, 40
SWING_M = 0.15
"""Standard deviation of a swing, before anything is seen."""
FLOOR_M, FLOOR_RAD = 3e-5, 2e-4
"""What the model leaves of a block at best: nothing swings quite like a sine."""
FEWEST = 4
"""Blocks from which anything is concluded."""
STRANGE = 5.0
"""Standard deviations by which a block may differ from what was predicted of it."""
STRANGE_M = 4e-4
SETTLED = 60
"""So many blocks make a fit that is believed more than a block or two."""
MANY_STRANGE = 6
"""Strange blocks in a row after which all that was seen before is forgotten."""
RADIANS_M = 0.05
"""What a radian counts beside metres: the hole's depth."""

# The memory of an observer, as sheets of one array.
BLOCKS = 0
"""Rows: time, channels."""
BANKS = 1
"""A row a frequency: A (6), β (18)."""
STATE = 2
SHEETS = 3

# Rows of STATE.
FIT = 0
"""ω, σ_ω, t of the fit, σ of a block's place and of its angles, whether there is a fit."""
MEAN = 1
SINE = 2
COSINE = 3
"""o, a, b of each channel, from CHANNEL on."""
INVERSE = 4
"""A⁻¹: six numbers."""
SUMS = 5
"""The block that is being filled: readings, begin, Σt, and Σy from CHANNEL on."""
LAST = 6
BEFORE_LAST = 7
"""The last two readings' channels; NaN where one is missing."""
NOISE = 8
"""Readings counted, and the sums of their squared second differences: places, angles."""
COUNTS = 9
"""Blocks remembered, where the next goes, strange ones in a row, resets."""
FIRST = 10
"""The first reading, from which all others are measured; its time first."""
SPECTRUM = 11
"""Scratch: log evidence."""
ROOM = 12
STATE_ROWS = 13
CHANNEL = 6
COLUMNS = max(CHANNEL + CHANNELS, 6 + 3 * CHANNELS, BANK)

OMEGA, OMEGA_STD, FIT_TIME, PLACE_STD, ANGLE_STD, FITTED = range(6)
FILLED, BEGUN, TIMES = range(3)
REMEMBERED, NEXT, ODD, RESETS = range(4)


def observer_memory() -> Array:
    """(sheets, rows, columns): an observer that has seen nothing."""
    memory = np.zeros((SHEETS, max(WINDOW, BANK, STATE_ROWS), COLUMNS))
    memory[STATE, LAST : BEFORE_LAST + 1] = np.nan
    return memory


@lean
def bank_omega(index):
    return 2.0 * math.pi * (LOWEST_HZ + index * (HIGHEST_HZ - LOWEST_HZ) / (BANK - 1))


@lean
def forget(memory):
    """Begin anew; only how noisy readings are stays known."""
    state = memory[STATE]
    state[COUNTS, REMEMBERED], state[COUNTS, NEXT], state[COUNTS, ODD] = 0.0, 0.0, 0.0
    state[FIT, FITTED], state[SUMS, FILLED] = 0.0, 0.0
    for index in range(BANK):
        for column in range(6 + 3 * CHANNELS):
            memory[BANKS, index, column] = 0.0


@lean
def observe(memory, stamp_s, points, trusted):
    """Take in a reading; returns whether a block was completed, and so the fit renewed.

    With ``trusted`` false nothing is learnt: the box is not free, or not yet again.
    """
    state = memory[STATE]
    channels = state[ROOM]
    missing = math.isnan(points[0])
    if not missing:
        channels_into(points, state[FIRST + 1], channels)
    note_noise(state, channels, missing)
    if missing:
        return False
    if not trusted:
        state[SUMS, FILLED] = 0.0
        return False
    if state[FIT, FITTED] == 0.0 and state[COUNTS, REMEMBERED] == 0.0 and state[SUMS, FILLED] == 0.0:
        state[FIRST, 0] = stamp_s
        for c in range(CHANNELS):
            state[FIRST, CHANNEL + c] = channels[c]
    sums = state[SUMS]
    if sums[FILLED] == 0.0:
        sums[BEGUN], sums[TIMES] = stamp_s, 0.0
        for c in range(CHANNELS):
            sums[CHANNEL + c] = 0.0
    sums[FILLED] += 1.0
    sums[TIMES] += stamp_s - sums[BEGUN]
    for c in range(CHANNELS):
        sums[CHANNEL + c] += channels[c] - state[FIRST, CHANNEL + c]
    if stamp_s - sums[BEGUN] < 0.9 * BLOCK_S:
        return False
    take_block(memory)
    return True


@lean
def note_noise(state, channels, missing):
    """Second differences of readings are six times their variance: the box itself hardly moves in a tick."""
    last, before = state[LAST], state[BEFORE_LAST]
    if not (missing or math.isnan(last[0]) or math.isnan(before[0])):
        state[NOISE, 0] += 1.0
        for c in range(CHANNELS):
            difference = channels[c] - 2.0 * last[c] + before[c]
            state[NOISE, 1 if c < YAW else 2] += difference * difference / 18.0
    for c in range(CHANNELS):
        before[c] = last[c]
        last[c] = math.nan if missing else channels[c]


@lean
def take_block(memory):
    """Remember the block that is full, and fit anew."""
    state = memory[STATE]
    sums, fit, counts = state[SUMS], state[FIT], state[COUNTS]
    filled = sums[FILLED]
    time = sums[BEGUN] + sums[TIMES] / filled
    for c in range(CHANNELS):
        sums[CHANNEL + c] /= filled
    sums[FILLED] = 0.0
    readings = max(state[NOISE, 0], 1.0)
    fit[PLACE_STD] = math.sqrt(state[NOISE, 1] / readings / filled + FLOOR_M**2)
    fit[ANGLE_STD] = math.sqrt(state[NOISE, 2] / readings / filled + FLOOR_RAD**2)
    # A young fit may be far off: then it is the fit that has to give way.
    if fit[FITTED] != 0.0 and counts[REMEMBERED] >= SETTLED:
        if is_strange(state, time):
            counts[ODD] += 1.0
            if counts[ODD] >= MANY_STRANGE:
                forget(memory)
                counts[RESETS] += 1.0
            return
        counts[ODD] = 0.0
    row = int(counts[NEXT])
    block = memory[BLOCKS, row]
    block[0] = time
    for c in range(CHANNELS):
        block[CHANNEL + c] = sums[CHANNEL + c]
    counts[NEXT] = (row + 1) % WINDOW
    counts[REMEMBERED] = min(counts[REMEMBERED] + 1.0, float(WINDOW))
    add_to_bank(memory, block)
    if counts[REMEMBERED] >= FEWEST:
        fit_window(memory, time)


@lean
def is_strange(state, time):
    """Whether the block at hand is where nothing that swings as believed could be."""
    fit = state[FIT]
    off = 0.0
    for c in range(YAW):
        swing = swung(state, c, time - fit[FIT_TIME])
        off += (state[SUMS, CHANNEL + c] - swing) ** 2
    sure = spread_at(state, time)
    return math.sqrt(off) > STRANGE * math.sqrt(fit[PLACE_STD] ** 2 + sure * sure) + STRANGE_M


@lean
def add_to_bank(memory, block):
    """Add a block to the sums of every frequency of the bank; time runs from the first reading there."""
    age = block[0] - memory[STATE, FIRST, 0]
    for index in range(BANK):
        angle = bank_omega(index) * age
        s, c = math.sin(angle), math.cos(angle)
        row = memory[BANKS, index]
        row[0] += 1.0
        row[1] += s
        row[2] += c
        row[3] += s * s
        row[4] += s * c
        row[5] += c * c
        for k in range(CHANNELS):
            y = block[CHANNEL + k]
            row[6 + k] += y
            row[6 + CHANNELS + k] += s * y
            row[6 + 2 * CHANNELS + k] += c * y


@lean
def best_of_bank(memory):
    """Where in the bank the evidence is largest."""
    state = memory[STATE]
    ridge = (state[FIT, PLACE_STD] / SWING_M) ** 2
    best, most = 0, -math.inf
    for index in range(BANK):
        evidence = explained(state, memory[BANKS, index], 0, ridge)
        state[SPECTRUM, index] = evidence
        if evidence > most:
            best, most = index, evidence
    return best


@lean
def explained(state, row, start, ridge):
    """log p(y | ω) but for what is the same for every ω, from the sums A (6) and β (18) at ``start``."""
    a, b, c = row[start] + 1e-9, row[start + 1], row[start + 2]
    d, e, f = row[start + 3] + ridge, row[start + 4], row[start + 5] + ridge
    # Cholesky's factors of [[a b c] [b d e] [c e f]].
    l11 = math.sqrt(a)
    l21, l31 = b / l11, c / l11
    l22 = math.sqrt(max(d - l21 * l21, 1e-300))
    l32 = (e - l21 * l31) / l22
    l33 = math.sqrt(max(f - l31 * l31 - l32 * l32, 1e-300))
    total = 0.0
    for k in range(CHANNELS):
        std = state[FIT, PLACE_STD] if k < YAW else state[FIT, ANGLE_STD]
        u = row[start + 6 + k] / l11
        v = (row[start + 6 + CHANNELS + k] - l21 * u) / l22
        w = (row[start + 6 + 2 * CHANNELS + k] - l31 * u - l32 * v) / l33
        total += (u * u + v * v + w * w) / (std * std)
    return 0.5 * total - CHANNELS * math.log(l11 * l22 * l33)


@lean
def sum_window(memory, omega, now, sums):
    """The sums A and β of the remembered blocks for one ω, time running from ``now``; φ = (1, sin, cos -
    1)."""
    for column in range(6 + 3 * CHANNELS):
        sums[column] = 0.0
    count, newest = int(memory[STATE, COUNTS, REMEMBERED]), int(memory[STATE, COUNTS, NEXT]) - 1
    last, s, c = now, 0.0, 1.0
    step, step_s, step_c = 0.0, 0.0, 1.0
    for back in range(count):
        block = memory[BLOCKS, (newest - back) % WINDOW]
        gap = block[0] - last
        last = block[0]
        if gap != 0.0:
            # Blocks come as regularly as readings: nearly always the turn is that of the one before.
            if abs(gap - step) > 1e-12:
                step, step_s, step_c = gap, math.sin(omega * gap), math.cos(omega * gap)
            s, c = s * step_c + c * step_s, c * step_c - s * step_s
        d = c - 1.0
        sums[0] += 1.0
        sums[1] += s
        sums[2] += d
        sums[3] += s * s
        sums[4] += s * d
        sums[5] += d * d
        for k in range(CHANNELS):
            y = block[CHANNEL + k]
            sums[6 + k] += y
            sums[6 + CHANNELS + k] += s * y
            sums[6 + 2 * CHANNELS + k] += d * y


@lean
def fit_window(memory, now):
    """Renew ω, its standard deviation, and o, a, b."""
    state = memory[STATE]
    fit, sums = state[FIT], state[ROOM]
    ridge = (fit[PLACE_STD] / SWING_M) ** 2
    spacing = bank_omega(1) - bank_omega(0)
    best = best_of_bank(memory)
    omega, width = fit[OMEGA], min(max(2.0 * fit[OMEGA_STD], 0.02), 0.5 * spacing)
    if fit[FITTED] == 0.0 or abs(bank_omega(best) - omega) > 1.5 * spacing:
        omega, width = bank_omega(best), 0.5 * spacing
    low = max(omega - width, 0.05)
    sum_window(memory, low, now, sums)
    at_low = explained(state, sums, 0, ridge)
    sum_window(memory, low + width, now, sums)
    middle = explained(state, sums, 0, ridge)
    sum_window(memory, low + 2.0 * width, now, sums)
    at_high = explained(state, sums, 0, ridge)
    bend = at_low - 2.0 * middle + at_high
    if bend < 0.0:
        move = 0.5 * (at_low - at_high) / bend
        omega = low + width * (1.0 + min(max(move, -1.5), 1.5))
        fit[OMEGA_STD] = min(width / math.sqrt(-bend), bank_omega(BANK))
    else:
        omega = low if at_low > at_high else low + 2.0 * width
        fit[OMEGA_STD] = bank_omega(BANK // 4)
    fit[OMEGA] = min(max(omega, 0.05), 1.2 * bank_omega(BANK - 1))
    fit[FIT_TIME], fit[FITTED] = now, 1.0
    sum_window(memory, fit[OMEGA], now, sums)
    settle(state, sums, ridge)
    sharpen(state)


@lean
def settle(state, sums, ridge):
    """o, a, b of every channel, and A⁻¹."""
    a, b, c = sums[0] + 1e-9, sums[1], sums[2]
    d, e, f = sums[3] + ridge, sums[4], sums[5] + ridge
    determinant = a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d)
    i11, i12, i13 = (d * f - e * e), (c * e - b * f), (b * e - c * d)
    i22, i23, i33 = (a * f - c * c), (b * c - a * e), (a * d - b * b)
    inverse = state[INVERSE]
    inverse[0], inverse[1], inverse[2] = i11 / determinant, i12 / determinant, i13 / determinant
    inverse[3], inverse[4], inverse[5] = i22 / determinant, i23 / determinant, i33 / determinant
    for k in range(CHANNELS):
        u, v, w = sums[6 + k], sums[6 + CHANNELS + k], sums[6 + 2 * CHANNELS + k]
        state[MEAN, CHANNEL + k] = inverse[0] * u + inverse[1] * v + inverse[2] * w
        state[SINE, CHANNEL + k] = inverse[1] * u + inverse[3] * v + inverse[4] * w
        state[COSINE, CHANNEL + k] = inverse[2] * u + inverse[4] * v + inverse[5] * w


@lean
def sharpen(state):
    """Make up for the averaging: over a block of length T a swing of ω keeps sin(x)/x of itself, x = ω T/2.

    Only the swing, a sin + b cos, is made larger; the place of rest, o - b, stays.
    """
    x = 0.5 * state[FIT, OMEGA] * BLOCK_S
    gain = x / math.sin(x)
    for k in range(CHANNELS):
        cosine = state[COSINE, CHANNEL + k]
        state[SINE, CHANNEL + k] *= gain
        state[COSINE, CHANNEL + k] = gain * cosine
        state[MEAN, CHANNEL + k] += (gain - 1.0) * cosine


@lean
def swung(state, c, ahead):
    """Channel c that long after the fit, measured from the first reading."""
    angle = state[FIT, OMEGA] * ahead
    return (
        state[MEAN, CHANNEL + c]
        + state[SINE, CHANNEL + c] * math.sin(angle)
        + state[COSINE, CHANNEL + c] * (math.cos(angle) - 1.0)
    )


@lean
def predict_into(memory, time_s, motion):
    """Write every channel, its rate and its acceleration at ``time_s``: (3, 6)."""
    state = memory[STATE]
    omega = state[FIT, OMEGA]
    angle = omega * (time_s - state[FIT, FIT_TIME])
    s, c = math.sin(angle), math.cos(angle)
    for k in range(CHANNELS):
        mean, sine, cosine = state[MEAN, CHANNEL + k], state[SINE, CHANNEL + k], state[COSINE, CHANNEL + k]
        motion[0, k] = state[FIRST, CHANNEL + k] + mean + sine * s + cosine * (c - 1.0)
        motion[1, k] = omega * (sine * c - cosine * s)
        motion[2, k] = -omega * omega * (sine * s + cosine * c)


@inlined
def spread_at(state, time_s):
    """Standard deviation of the predicted place at ``time_s`` (m), all axes and angles together.

    Of o, a, b it is σ √(φᵀ A⁻¹ φ); of ω, how far the swing runs ahead or behind between the middle of what
    was seen and then.
    """
    fit, inverse = state[FIT], state[INVERSE]
    if fit[FITTED] == 0.0:
        return math.inf
    ahead = time_s - fit[FIT_TIME]
    angle = fit[OMEGA] * ahead
    s, d = math.sin(angle), math.cos(angle) - 1.0
    share = (
        inverse[0]
        + 2.0 * s * inverse[1]
        + 2.0 * d * inverse[2]
        + s * s * inverse[3]
        + 2.0 * s * d * inverse[4]
        + d * d * inverse[5]
    )
    swing = 0.0
    for k in range(CHANNELS):
        metres = 1.0 if k < YAW else RADIANS_M
        swing += metres**2 * (state[SINE, CHANNEL + k] ** 2 + state[COSINE, CHANNEL + k] ** 2)
    # A swing of low frequency may have any amplitude; its arc has not.
    swing = min(math.sqrt(swing), SWING_M)
    drift = swing * min(fit[OMEGA_STD], fit[OMEGA]) * max(ahead, 0.0)
    return math.sqrt(
        max(share, 0.0) * 3.0 * (fit[PLACE_STD] ** 2 + (RADIANS_M * fit[ANGLE_STD]) ** 2) + drift * drift
    )
