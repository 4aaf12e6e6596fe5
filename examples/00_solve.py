"""Load an arm, ask for a pose, read the answer."""

import numpy as np

import forearm

arm = forearm.load("ur5e")
target = forearm.Pose.from_rpy((0.3, 0.2, 0.55), np.radians((180.0, 0.0, 0.0)))
result = arm.ik(target, seed=arm.posture("home"))

best = result.require()
print(f"{result.status}: {best.position_error_m:.1e} m, {best.rotation_error_rad:.1e} rad")
for name, degrees in zip(arm.joint_names, np.degrees(best.q), strict=True):
    print(f"  {name:<14} {degrees:+9.3f}°")
print(f"tightest joint: {best.limit_joint}, {best.limit_margin_rad:.2f} rad from its limit")
