"""How far the arm is from what stands around it."""

from __future__ import annotations

from dataclasses import dataclass, field

import mujoco
import numpy as np

from forearm.motion.plan import Clearance
from forearm.sim.scene import Scene
from forearm.spatial import Array

FAR_M = 0.5
"""Distances beyond this are not told apart."""


@dataclass(eq=False)
class SceneClearance:
    """Asks MuJoCo for the distance of every link that moves to every block, in data of its own."""

    scene: Scene
    _data: mujoco.MjData = field(init=False)
    _pairs: list[tuple[int, int]] = field(init=False)

    def __post_init__(self) -> None:
        model = self.scene.model
        self._data = mujoco.MjData(model)
        blocks = [model.geom(block.name).id for block in self.scene.blocks]
        moving = [
            geom
            for geom in range(model.ngeom)
            if geom not in blocks and model.geom_contype[geom] and model.body_weldid[model.geom_bodyid[geom]]
        ]
        self._pairs = [(geom, block) for geom in moving for block in blocks]

    def __call__(self, q: Array) -> Clearance:
        """The nearest pair at ``q``; a negative distance is how deep they intersect."""
        model, data = self.scene.model, self._data
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        nearest, link, block = FAR_M, "", ""
        points = np.zeros(6)
        for geom, obstacle in self._pairs:
            distance = mujoco.mj_geomDistance(model, data, geom, obstacle, FAR_M, points)
            if distance < nearest:
                nearest = distance
                link = model.body(model.geom_bodyid[geom]).name
                block = model.geom(obstacle).name
        return Clearance(nearest, link, block)
