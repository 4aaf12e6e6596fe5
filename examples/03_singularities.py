"""Where an arm cannot move freely, by name."""

import forearm

arm = forearm.load("ur5e")
for name, q in arm.postures.items():
    w = arm.manipulability(q)
    near = ", ".join(f"{s.name} ({', '.join(s.joints)})" for s in arm.singularities(q))
    print(f"{name:<14} manipulability {w:.4f}   {near or 'regular'}")
