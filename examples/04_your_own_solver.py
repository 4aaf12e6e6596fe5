"""A solver of your own: it proposes, the gate judges."""

import numpy as np

import forearm
from forearm.ik.problem import Problem
from forearm.ik.solver import Proposal, Stop, register
from forearm.kinematics.forward import tip_pose


@register
class RandomGuess:
    """The best of many random joint vectors. It believes in itself."""

    name = "random_guess"
    summary = "the best of 2000 random joint vectors"
    settles = False

    def supports(self, robot, task):
        return True

    def propose(self, problem: Problem) -> Proposal:
        robot, generator = problem.robot, np.random.default_rng(0)
        guesses = generator.uniform(robot.lower, robot.upper, (2000, robot.dof))
        goal = problem.target_in_base.position_m
        misses = [np.linalg.norm(tip_pose(robot, q).position_m - goal) for q in guesses]
        return Proposal([guesses[int(np.argmin(misses))]], Stop.CONVERGED, iterations=len(guesses))


arm = forearm.load("two_link")
result = arm.ik((0.34, 0.28, 0.0), solver="random_guess")
print(result.status, "-", result.reason)
