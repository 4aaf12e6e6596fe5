"""How near the compiled solver comes to what the processor's arithmetic allows.

The operations of one iteration are counted by running the kernels' own source on numbers that count; the
rate at which the processor can do them is measured on a loop of multiply-adds that wait for nothing.
"""

from __future__ import annotations

import time
from types import FunctionType
from typing import Any

import numpy as np

from forearm.arm import Arm
from forearm.ik.fast import descent
from forearm.ik.fast.descent import damped_step, error_of, finish_columns, move, walk
from forearm.ik.fast.layout import KIND, MAX_STEP, METRES_PER_RADIAN, SETTINGS, TASK
from forearm.ik.problem import pose_problem
from forearm.ik.solvers.race import Race
from forearm.kinematics.compiling import compiled
from forearm.kinematics.lanes import fma as compiled_fma
from forearm.kinematics.lanes import get_lane, lanes, put, stack
from forearm.spatial import Array

REPEATS, LOOPS = 7, 50_000
CHAINS = 12
"""Independent multiply-adds in the loop: enough to fill every unit of today's processors."""


class Counting(float):
    """A number that counts what is done with it."""

    operations = 0

    def _counted(self, value: float) -> Counting:
        Counting.operations += 1
        return Counting(value)

    def __add__(self, other: float) -> Counting:
        return self._counted(float(self) + float(other))

    def __sub__(self, other: float) -> Counting:
        return self._counted(float(self) - float(other))

    def __rsub__(self, other: float) -> Counting:
        return self._counted(float(other) - float(self))

    def __mul__(self, other: float) -> Counting:
        return self._counted(float(self) * float(other))

    def __truediv__(self, other: float) -> Counting:
        return self._counted(float(self) / float(other))

    def __rtruediv__(self, other: float) -> Counting:
        return self._counted(float(other) / float(self))

    def __neg__(self) -> Counting:
        # Folded into the multiply-add that takes it.
        return Counting(-float(self))

    __radd__, __rmul__ = __add__, __mul__


def counted(value: Any) -> Counting:
    Counting.operations += 1
    return Counting(value)


def quadrants(_count: float, sine: float, cosine: float) -> tuple[Counting, Counting]:
    """The sign and the swap: about eight operations on whole numbers."""
    Counting.operations += 8
    return Counting(sine), Counting(cosine)


STAND_INS: dict[str, Any] = {
    "fma": lambda a, b, c: counted(float(a) * float(b) + float(c)),
    "square_root": lambda a: counted(np.sqrt(float(a))),
    "nearest_whole": lambda a: counted(np.rint(float(a))),
    "absolute": lambda a: counted(abs(float(a))),
    "larger": lambda a, b: counted(max(float(a), float(b))),
    "smaller": lambda a, b: counted(min(float(a), float(b))),
    "where": lambda mask, a, b: counted(a if mask else b),
    "turned_by_quadrants": quadrants,
    "get": lambda slots, index: slots[index],
    "put": lambda slots, index, value: slots.__setitem__(index, Counting(value)),
}
"""What the kernels call, on numbers that count. Loads and stores are not counted."""


def on_counting_numbers(kernel: Any) -> FunctionType:
    """A kernel's source, run by Python with the stand-ins in place of what it calls."""
    names = dict(vars(descent))
    names.update(STAND_INS)
    for name, value in vars(descent).items():
        if hasattr(value, "py_func") and name not in STAND_INS:
            names[name] = FunctionType(value.py_func.__code__, names, name)
    return FunctionType(kernel.py_func.__code__, names, kernel.py_func.__name__)


def operations_per_iteration(arm: Arm) -> int:
    """Arithmetic operations of one iteration of one attempt."""
    n, problem = arm.dof, pose_problem(arm, np.eye(4))
    table = Race().table(problem)
    task, lever = table[n + TASK, KIND], table[n + SETTINGS, METRES_PER_RADIAN]
    q, columns, step = ([Counting(0.1)] * size for size in (32, 192, 32))
    target = [Counting(value) for value in (*np.eye(3).ravel(), 0.1, 0.2, 0.3)]
    Counting.operations = 0
    tip = on_counting_numbers(walk)(n, table, q, columns)
    e0, e1, e2, e3, e4, e5, _ = on_counting_numbers(error_of)(task, lever, target, tip)
    on_counting_numbers(finish_columns)(n, table, task, lever, q, columns, tip, e0, e1, e2, e3, e4, e5)
    largest = on_counting_numbers(damped_step)(n, columns, step, Counting(0.01), e0, e1, e2, e3, e4, e5)
    on_counting_numbers(move)(n, table, q, step, largest, table[n + SETTINGS, MAX_STEP])
    return Counting.operations


@compiled
def multiply_adds(count):
    one = lanes(8, 1.0)
    m, zero = one * 0.999999, one * 0.0
    a, b, c, d, e, f = zero, zero, zero, zero, zero, zero
    g, h, i, j, k, x = zero, zero, zero, zero, zero, zero
    for _ in range(count):
        a, b, c = compiled_fma(a, m, one), compiled_fma(b, m, one), compiled_fma(c, m, one)
        d, e, f = compiled_fma(d, m, one), compiled_fma(e, m, one), compiled_fma(f, m, one)
        g, h, i = compiled_fma(g, m, one), compiled_fma(h, m, one), compiled_fma(i, m, one)
        j, k, x = compiled_fma(j, m, one), compiled_fma(k, m, one), compiled_fma(x, m, one)
    slots = stack(1, one)
    put(slots, 0, a + b + c + d + e + f + g + h + i + j + k + x)
    return get_lane(slots, 0, 0)


def peak_per_ns() -> float:
    """Operations on eight numbers that this processor does in a nanosecond."""
    multiply_adds(1)
    return CHAINS * LOOPS / min(elapsed_ns(multiply_adds, LOOPS) for _ in range(REPEATS))


def elapsed_ns(function: Any, *args: Any) -> int:
    begun = time.perf_counter_ns()
    function(*args)
    return time.perf_counter_ns() - begun


def attained_share(arm: Arm, targets: Array, seeds: Array) -> dict[str, float]:
    """Arithmetic of the race's iterations over the time that it took for all of it, against the peak."""
    solve_into, answer = arm.direct_solver(), np.empty(arm.dof)
    iterations = sum(abs(solve_into(t, s, answer)) for t, s in zip(targets, seeds, strict=True))

    def race() -> None:
        for target, seed in zip(targets, seeds, strict=True):
            solve_into(target, seed, answer)

    operations, peak = operations_per_iteration(arm), peak_per_ns()
    took_ns = min(elapsed_ns(race) for _ in range(REPEATS))
    return {
        "operations_per_iteration": operations,
        "peak_operations_per_ns": peak,
        "ns_per_iteration": took_ns / iterations,
        "attained_share": operations * iterations / took_ns / peak,
    }
