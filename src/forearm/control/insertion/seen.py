"""From four points to the hole's frame."""

from __future__ import annotations

import math

from forearm.kinematics.compiling import lean
from forearm.kinematics.rates import cross

# What is told of the box at one time: its place (m) and its angles (rad), R = Rz(yaw) Ry(tilt) Rx(roll).
X, Y, Z, YAW, TILT, ROLL = range(6)
CHANNELS = 6


@lean
def unit(x, y, z):
    length = math.sqrt(x * x + y * y + z * z)
    return x / length, y / length, z / length


@lean
def frame_into(points, frame):
    """Write the hole's middle, and the box's x and y axes, from the four sensors' positions (12).

    The middle is their mean. Two edge vectors span the mouth; their cross product is the hole's axis.
    """
    for k in range(3):
        frame[k] = 0.25 * (points[k] + points[3 + k] + points[6 + k] + points[9 + k])
        # Along y: sensors 2 and 3 against 1 and 4; along z: 3 and 4 against 1 and 2.
        frame[3 + k] = points[3 + k] + points[6 + k] - points[k] - points[9 + k]
        frame[6 + k] = points[6 + k] + points[9 + k] - points[k] - points[3 + k]
    yx, yy, yz = unit(frame[3], frame[4], frame[5])
    x = cross(yx, yy, yz, frame[6], frame[7], frame[8])
    frame[3], frame[4], frame[5] = unit(x[0], x[1], x[2])
    frame[6], frame[7], frame[8] = yx, yy, yz


@lean
def channels_into(points, frame, channels):
    """Place and angles of the box from the four sensors' positions; ``frame`` is scratch of 9."""
    frame_into(points, frame)
    for k in range(3):
        channels[k] = frame[k]
    level = math.sqrt(frame[3] ** 2 + frame[4] ** 2)
    channels[YAW] = math.atan2(frame[4], frame[3])
    channels[TILT] = math.atan2(-frame[5], level)
    # z = x cross y, and R's last row is (-sin tilt, cos tilt sin roll, cos tilt cos roll).
    channels[ROLL] = math.atan2(frame[8], frame[3] * frame[7] - frame[4] * frame[6])


@lean
def rotation_into(yaw, tilt, roll, rotation):
    """R = Rz(yaw) Ry(tilt) Rx(roll), row by row."""
    cy, sy = math.cos(yaw), math.sin(yaw)
    ct, st = math.cos(tilt), math.sin(tilt)
    cr, sr = math.cos(roll), math.sin(roll)
    rotation[0], rotation[1], rotation[2] = cy * ct, cy * st * sr - sy * cr, cy * st * cr + sy * sr
    rotation[3], rotation[4], rotation[5] = sy * ct, sy * st * sr + cy * cr, sy * st * cr - cy * sr
    rotation[6], rotation[7], rotation[8] = -st, ct * sr, ct * cr
