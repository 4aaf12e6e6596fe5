"""What task-space laws measure at the tip, tick by tick."""

from __future__ import annotations

import numpy as np

from forearm.control.controller import State, Tick
from forearm.control.plant import Plant
from forearm.kinematics.chain import forward_and_jacobian_into
from forearm.kinematics.error import pose_error_into
from forearm.kinematics.measures import task_rows
from forearm.kinematics.rates import jacobian_rate_into
from forearm.spatial import Array


class TipMeasure:
    """The tip's error, Jacobian and J̇ of one plant, in buffers of its own; the task's rows only."""

    def __init__(self, plant: Plant) -> None:
        n = plant.robot.dof
        self.chain = plant.chain
        self.rows = task_rows(plant.robot.task)
        self._transform, self._error = np.empty((4, 4)), np.empty(6)
        self._jacobian, self._rate = np.empty((6, n)), np.empty((6, n))

    def at(self, state: State, reference: Tick) -> tuple[Array, Array, Array, Array]:
        """(e, ė, J, J̇): (p_d - p, log(R_d Rᵀ)), the twist error, the Jacobian and its rate."""
        forward_and_jacobian_into(self.chain, state.q, self._transform, self._jacobian)
        pose_error_into(reference.pose, self._transform, self._error)
        jacobian_rate_into(self.chain, state.q, state.qd, self._transform, self._jacobian, self._rate)
        jacobian, rows = self._jacobian[self.rows], self.rows
        return self._error[rows], reference.twist[rows] - jacobian @ state.qd, jacobian, self._rate[rows]
