"""ikpy: SciPy's bounded least squares over matrices in Python."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from forearm.bench.peers import Ready, Subject, register
from forearm.spatial import Array


@register
class Ikpy:
    """It says nothing of whether it got there, so whatever it gives counts as a claim.

    Tighter tolerances only take longer: where it stops short it is stuck. Its other method solves fewer.
    """

    name = "ikpy"
    package = "ikpy"
    settings = ("best",)

    def prepare(self, subject: Subject, setting: str) -> Ready:  # noqa: ARG002 - there is but one
        with warnings.catch_warnings(action="ignore"):
            from ikpy.chain import Chain

        # The fixed links at both ends stay as they are.
        moving = [False, *[True] * subject.robot.dof, False]
        links = [subject.base_link]
        return ReadyIkpy(
            Chain.from_urdf_file(str(subject.urdf), base_elements=links, active_links_mask=moving)
        )


class ReadyIkpy:
    def __init__(self, chain: Any) -> None:
        self.chain = chain
        self.joints = np.zeros(len(chain.links))

    def fk(self, q: Array) -> Array:
        self.joints[1:-1] = q
        return self.chain.forward_kinematics(self.joints)

    def solve(self, target: Array, seed: Array) -> Array | None:
        self.joints[1:-1] = seed
        answer = self.chain.inverse_kinematics_frame(target, self.joints, orientation_mode="all")
        return answer[1:-1]
