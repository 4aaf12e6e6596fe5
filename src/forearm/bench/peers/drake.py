"""Drake: inverse kinematics as a nonlinear program, solved by SNOPT."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from forearm.bench.peers import Ready, Subject, register, start_postures
from forearm.spatial import Array

FEASIBILITY = 3e-14
"""The orientation is constrained by its cosine, so an angle only by its square, and SNOPT multiplies by the
length of q: this leaves 6e-7 rad at most. Its default, 1e-6, passes 2e-3 rad for a success."""
STARTS = 40
ENDLESS = 2.0 * np.pi


@register
class Drake:
    name = "Drake"
    package = "drake"
    settings = ("best", "default")

    def prepare(self, subject: Subject, setting: str) -> Ready:
        with warnings.catch_warnings(action="ignore"):
            import pydrake.all as drake

        return ReadyDrake(drake, subject, setting == "best")


class ReadyDrake:
    """The program is made once: the target is a frame of the plant, which every question moves."""

    def __init__(self, drake: Any, subject: Subject, best: bool) -> None:
        self.pose_from_matrix = drake.RigidTransform
        plant = drake.MultibodyPlant(0.0)
        drake.Parser(plant).AddModels(str(subject.urdf))
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(subject.base_link))
        self.target = plant.AddFrame(
            drake.FixedOffsetFrame("target", plant.world_frame(), drake.RigidTransform())
        )
        plant.Finalize()
        self.plant, self.context = plant, plant.CreateDefaultContext()
        self.tip = plant.GetFrameByName(subject.tip_link)
        self.question = drake.InverseKinematics(plant, self.context)
        here, level = np.zeros(3), drake.RotationMatrix()
        self.question.AddPositionConstraint(self.tip, here, self.target, here, here)
        self.question.AddOrientationConstraint(self.target, level, self.tip, level, 0.0)
        self.program, self.variables = self.question.prog(), self.question.q()
        self.solver, self.options = drake.SnoptSolver(), drake.SolverOptions()
        self.starts: list[Array] = []
        if best:
            for kind in ("Major", "Minor"):
                self.options.SetOption(self.solver.id(), f"{kind} feasibility tolerance", FEASIBILITY)
            # Endless joints run away to hundreds of radians, which loosens the tolerance as much.
            lower = np.maximum(subject.robot.lower, -ENDLESS)
            self.program.AddBoundingBoxConstraint(
                lower, np.minimum(subject.robot.upper, ENDLESS), self.variables
            )
            self.starts = list(start_postures(subject.robot, STARTS - 1))

    def fk(self, q: Array) -> Array:
        self.plant.SetPositions(self.context, q)
        return self.tip.CalcPoseInWorld(self.context).GetAsMatrix4()

    def solve(self, target: Array, seed: Array) -> Array | None:
        self.target.SetPoseInParentFrame(self.context, self.pose_from_matrix(target))
        result = self.solver.Solve(self.program, seed, self.options)
        for start in self.starts:
            if result.is_success():
                break
            result = self.solver.Solve(self.program, start, self.options)
        return result.GetSolution(self.variables) if result.is_success() else None
