"""Every branch of the planar arm, and the one nearest the last answer along a path."""

import numpy as np

import forearm

arm = forearm.load("two_link")
for solution in arm.ik((0.34, 0.28, 0.0)).solutions:
    print(f"{solution.branch:<12} {np.degrees(solution.q).round(2)}°")

q = arm.ik((0.35, 0.25, 0.0)).q
for angle in np.linspace(0.0, 2.0 * np.pi, 25):
    point = (0.30 + 0.05 * np.cos(angle), 0.25 + 0.05 * np.sin(angle), 0.0)
    step = arm.ik(point, seed=q).q
    assert np.abs(step - q).max() < 0.2, "the elbow has flipped"
    q = step
print("a circle without a flip")
