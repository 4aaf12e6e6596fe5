"""A stream of poses: speeds and limits are kept, and nothing jumps unsaid."""

import forearm

arm = forearm.load("ur5e")
tracker = arm.tracker(arm.home, dt_s=0.002)
start = arm.fk(arm.home)

for millimetres in range(0, 600, 2):
    x, y, z = start.position_m
    goal = forearm.Pose((x, y + 1e-3 * millimetres, z), start.quaternion_wxyz)
    step = tracker.step(goal)
    if step.status is not forearm.TrackStatus.OK:
        print(f"{step.status} after {millimetres} mm: {step.reason}")
        break
print(f"the tip is {step.position_error_m * 1e3:.3f} mm from the last pose")
