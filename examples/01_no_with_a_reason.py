"""Three kinds of answer: solved, proved unreachable, not found."""

import forearm

arm = forearm.load("two_link(0.5, 0.4)")
for target in ((0.6, 0.3, 0.0), (1.5, 0.0, 0.0)):
    result = arm.ik(target)
    print(target, result.status, "-", result.proof or result.reason)

# One start and few iterations: that a solver gives up proves nothing, and the result says so.
panda = forearm.load("panda")
hard = panda.fk((2.0, -1.2, -2.0, -0.5, 2.0, 3.0, -2.0))
result = panda.ik(hard, solver="dls", max_iterations=5)
print("panda", result.status, "-", result.reason)
print("nearest:", f"{result.best_effort.position_error_m:.3f} m away, and not among the solutions")
