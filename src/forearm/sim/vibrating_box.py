"""The box with the hole: two slides that carry it along a circle, a gimbal that turns it, four sensors.

With difficulty d the drives are told, θ = 2π f t + φ, f = 2 d Hz:

    x = ±0.1 d sin θ      y = 0.1 d cos θ          (m)
    yaw = 10° d sin(θ + φ_yaw)      tilt = 5° d sin(θ + φ_tilt)

The sign of x is the direction in which the circle is run. Each drive is a PD: the slides' is the source's,
Kp 750 N/m and Kd 30 N·s/m; the gimbal's is stiff enough to turn the box as it is told to. So the box is no
wall: pushed, it gives way.
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from forearm.control.insertion.hole import Hole
from forearm.errors import InvalidInput
from forearm.spatial import Array, Pose

AMPLITUDE_M = 0.1
FREQUENCY_HZ = 2.0
YAW_RAD = np.radians(10.0)
TILT_RAD = np.radians(5.0)
SLIDE_KP, SLIDE_KD = 750.0, 30.0
GIMBAL_KP, GIMBAL_KD = 400.0, 3.0
MASS_KG = 1.0
INERTIA_KGM2 = 0.01
MOST_DIFFICULT = 2.0

BODY = "box"
JOINTS = ("box_x", "box_y", "box_yaw", "box_tilt")
PLATE = "box_plate"
BACK = "box_back"
WALLS = ("box_wall_low", "box_wall_high", "box_wall_left", "box_wall_right")
SENSORS = tuple(f"box_sensor_{number}" for number in range(1, 5))
OUTER_M = 0.08
"""Half the side of the box's face."""
PLATE_M = 0.008
FRICTION = 0.06
"""Ground steel on steel, a little grease."""
HARD, SPRUNG = (0.00025, 1.0), (0.0006, 1.0)
"""Time constant (s) and damping ratio of contacts with the walls and with the plate, which is a switch on
springs."""
GIVE = (0.05, 0.99, 0.0002, 0.5, 2.0)
"""MuJoCo's impedance: soft for the first 0.1 mm, hard from there on."""


@dataclass(frozen=True, slots=True)
class Vibration:
    """One trial's motion of the box."""

    difficulty: float
    phase_rad: float = 0.0
    direction: float = 1.0
    yaw_phase_rad: float = 0.0
    tilt_phase_rad: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.difficulty <= MOST_DIFFICULT:
            raise InvalidInput(
                "difficulty", f"is {self.difficulty}", f"Give a number from 0 to {MOST_DIFFICULT:g}."
            )

    @staticmethod
    def drawn(difficulty: float, random: np.random.Generator) -> Vibration:
        """Phases and direction by chance."""
        phase, yaw, tilt = random.uniform(0.0, 2.0 * np.pi, size=3)
        return Vibration(difficulty, float(phase), float(random.choice((-1.0, 1.0))), float(yaw), float(tilt))

    @property
    def frequency_hz(self) -> float:
        return FREQUENCY_HZ * self.difficulty

    @property
    def waves(self) -> Array:
        """(4,) complex: each drive is told the imaginary part of wave · exp(iωt)."""
        d, turn = self.difficulty, np.exp(1j * self.phase_rad)
        return turn * np.array(
            [
                self.direction * AMPLITUDE_M * d,
                1j * AMPLITUDE_M * d,
                YAW_RAD * d * np.exp(1j * self.yaw_phase_rad),
                TILT_RAD * d * np.exp(1j * self.tilt_phase_rad),
            ]
        )

    def told(self, times_s: Array) -> Array:
        """What the four drives are told at each time, (n, 4)."""
        spin = np.exp(2j * np.pi * self.frequency_hz * np.asarray(times_s))
        return np.ascontiguousarray(np.multiply.outer(spin, self.waves).imag)

    def settled(self) -> tuple[Array, Array]:
        """Where the joints are, and how fast, at t = 0 if the box has been shaken for long."""
        answer = self.settled_waves()
        return answer.imag, (2j * np.pi * self.frequency_hz * answer).imag

    def settled_waves(self) -> Array:
        """(4,) complex, as ``waves``: how the joints answer.

        A mass m on Kp (told - x) - Kd ẋ answers with told · Kp / (Kp - m ω² + i Kd ω).
        """
        w = 2.0 * np.pi * self.frequency_hz
        kp = np.array([SLIDE_KP, SLIDE_KP, GIMBAL_KP, GIMBAL_KP])
        kd = np.array([SLIDE_KD, SLIDE_KD, GIMBAL_KD, GIMBAL_KD])
        inertia = np.array([MASS_KG, MASS_KG, INERTIA_KGM2, INERTIA_KGM2])
        return self.waves * kp / (kp - inertia * w**2 + 1j * kd * w)


def add_box(spec: mujoco.MjSpec, place: Pose, hole: Hole) -> None:
    """Put the box into the scene with its mouth at ``place``, its drives and its sensors."""
    carriage = spec.worldbody.add_body(
        name=BODY, pos=place.position_m.tolist(), quat=place.quaternion_wxyz.tolist()
    )
    carriage.explicitinertial = True
    carriage.mass, carriage.ipos, carriage.inertia = MASS_KG, [0.0] * 3, [INERTIA_KGM2] * 3
    slide, hinge = mujoco.mjtJoint.mjJNT_SLIDE, mujoco.mjtJoint.mjJNT_HINGE
    axes = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0])
    for name, kind, axis in zip(JOINTS, (slide, slide, hinge, hinge), axes, strict=True):
        carriage.add_joint(name=name, type=kind, axis=axis)
    # Its centre of mass stays where the gimbal's axes meet: it is balanced.
    add_faces(carriage, hole)
    y, z = hole.sensor_m * np.array([-1.0, 1.0, 1.0, -1.0]), hole.sensor_m * np.array([-1.0, -1.0, 1.0, 1.0])
    for index, name in enumerate(SENSORS):
        carriage.add_site(name=name, pos=[0.0, y[index], z[index]], size=[0.003] * 3, group=4)
        spec.add_sensor(
            name=name,
            type=mujoco.mjtSensor.mjSENS_FRAMEPOS,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            objname=name,
        )
    gains = ((SLIDE_KP, SLIDE_KD), (SLIDE_KP, SLIDE_KD), (GIMBAL_KP, GIMBAL_KD), (GIMBAL_KP, GIMBAL_KD))
    for name, (kp, kd) in zip(JOINTS, gains, strict=True):
        drive = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        drive.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        drive.gainprm[0] = kp
        drive.biasprm[1], drive.biasprm[2] = -kp, -kd


def add_faces(body: mujoco.MjsBody, hole: Hole) -> None:
    """Four solid walls around the hole, the plate at its bottom, which only the hole leads to, and a back."""
    inner, depth = hole.half_width_m, 0.5 * (hole.depth_m + PLATE_M)
    thick, middle = 0.5 * (OUTER_M - inner), 0.5 * (OUTER_M + inner)
    faces = {
        WALLS[0]: ((depth, 0.0, -middle), (depth, OUTER_M, thick)),
        WALLS[1]: ((depth, 0.0, middle), (depth, OUTER_M, thick)),
        WALLS[2]: ((depth, -middle, 0.0), (depth, thick, inner)),
        WALLS[3]: ((depth, middle, 0.0), (depth, thick, inner)),
        PLATE: ((hole.depth_m + 0.5 * PLATE_M, 0.0, 0.0), (0.5 * PLATE_M, inner, inner)),
        BACK: ((2.0 * depth + 0.5 * PLATE_M, 0.0, 0.0), (0.5 * PLATE_M, OUTER_M, OUTER_M)),
    }
    for name, (center, half_size) in faces.items():
        body.add_geom(
            name=name,
            type=mujoco.mjtGeom.mjGEOM_BOX,
            pos=list(center),
            size=list(half_size),
            mass=0.0,
            friction=[FRICTION, 0.005, 0.0001],
            solref=list(SPRUNG if name == PLATE else HARD),
            solimp=list(GIVE),
            priority=1,
        )
