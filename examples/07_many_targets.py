"""A hundred thousand targets on all cores, each answer certified."""

import numpy as np

import forearm

arm = forearm.load("ur5e")
random = np.random.default_rng(0)
postures, seeds = random.uniform(arm.lower, arm.upper, (2, 2_000, arm.dof))
targets = np.tile([arm.fk(q).matrix() for q in postures], (50, 1, 1))

batch = arm.ik_batch(targets, np.tile(seeds, (50, 1)))
print(f"{batch.solved.sum():,} of {len(batch):,} solved")
print(f"worst: {batch.position_error_m.max():.1e} m, {batch.rotation_error_rad.max():.1e} rad")
