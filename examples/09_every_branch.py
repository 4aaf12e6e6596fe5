"""Every way in which an arm can reach a pose, by name; and the proof that there is none."""

import forearm

arm = forearm.load("ur5e")
target = arm.fk(arm.posture("home") + 0.1)
for solution in arm.ik(target, solver="analytic").solutions:
    print(
        f"{solution.branch:<42} {solution.winding_count} windings, {solution.limit_margin_rad:.2f} rad left"
    )

blocked = arm.ik(target, hold={"wrist_1": 0.5})
print(blocked.status, "-", blocked.reason)
print(blocked.proof)
