"""A control law of your own on the UR5e's torque motors."""

import numpy as np

import forearm
from forearm.control.controller import State, Tick, make_controller, register
from forearm.control.plant import ActuatorKind
from forearm.sim.loop import run_loop
from forearm.sim.scene import build_scene


@register
class Limp:
    """τ = 0."""

    name = "limp"
    summary = "no torque at all"
    drives = ActuatorKind.MOTOR

    def __init__(self, plant):
        pass

    def command(self, state: State, reference: Tick, out):
        out[:] = 0.0


arm = forearm.load("ur5e")
scene = build_scene(arm, ActuatorKind.MOTOR)
still = np.zeros(arm.dof)
tick = Tick(arm.home, still, still, still, still, np.eye(4), np.zeros(6), np.zeros(6))
for name in ("limp", "pd_gravity"):
    q = run_loop(scene, make_controller(name, scene.plant), [tick] * 250).recording.q
    print(f"{name:<12} has moved by {np.abs(q[-1] - arm.home).max():.3f} rad after half a second")
