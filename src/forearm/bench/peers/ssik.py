"""ssik: every branch of 6R and 7R arms, by a module that it writes for one arm."""

from __future__ import annotations

import warnings
from dataclasses import replace
from types import ModuleType
from typing import Any

from forearm.bench.peers import Ready, Subject, Unfit, register
from forearm.spatial import Array

EXACT = 1e-6
"""Of ``fk_residual``, ‖FK(q) - T‖: metres and √2 times radians, mixed. Its own bar is 1e-5."""
SLOW_TO_BUILD = ("ikgeo.general_6r", "jointlock.seven_r")
"""Its README says half a minute and 7 to 20 minutes; two shared cores took 150 s for the first."""
MATH_ERROR = ValueError
"""For some arms the written module takes roots of numbers that rounding has made negative."""


@register
class SSIK:
    """The module is written and loaded before the first question, as its README advises.

    That takes 0.3 s for the families that have a closed form. The others are left out.
    """

    name = "ssik"
    package = "ssik"
    settings = ("best", "default")

    def prepare(self, subject: Subject, setting: str) -> Ready:
        with warnings.catch_warnings(action="ignore"):
            import ssik
            from ssik.core.codegen import emit_artifact

            if not all(subject.robot.turns):
                raise Unfit("ssik takes only joints that turn")
            try:
                arm = ssik.Manipulator.from_urdf(subject.urdf, base=subject.base_link, ee=subject.tip_link)
            except (ValueError, NotImplementedError) as error:
                raise Unfit(f"ssik: {error}") from error
            plan = arm.dispatch_plan
            if plan.solver_name in SLOW_TO_BUILD:
                raise Unfit(f"ssik: {plan.solver_name}, which takes minutes to build")
            module = ModuleType("forearm_chain_ik")
            exec(emit_artifact(kb=arm.kinbody, plan=plan, module_name=module.__name__).source, vars(module))
        if setting == "default":
            return Seeded(module)
        strict = replace(ssik.DEFAULT_TOLERANCE_POLICY, subproblem_numerical=EXACT)
        return First(module, arm, strict)


class First:
    """The first answer, whichever: asked for the one nearest to the seed, it takes a third longer.

    Where the written module fails or is inexact, ssik's general code is asked, many times slower.
    """

    def __init__(self, module: Any, arm: Any, strict: Any) -> None:
        self.module, self.arm, self.strict = module, arm, strict

    def fk(self, q: Array) -> Array:
        return self.module.fk(q)

    def solve(self, target: Array, seed: Array) -> Array | None:  # noqa: ARG002 - it needs no seed
        try:
            found = self.module.solve(target, max_solutions=1)
        except MATH_ERROR:
            found = self.arm.solve(target, max_solutions=1)
        if found and found[0].fk_residual > EXACT:
            found = self.arm.solve(target, max_solutions=1, policy=self.strict, allow_refinement=True)
        return found[0].q if found else None


class Seeded:
    """As its README tracks: the answer nearest to the seed, to its own tolerance."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def fk(self, q: Array) -> Array:
        return self.module.fk(q)

    def solve(self, target: Array, seed: Array) -> Array | None:
        try:
            found = self.module.solve(target, max_solutions=1, q_seed=seed)
        except MATH_ERROR:
            return None
        return found[0].q if found else None
