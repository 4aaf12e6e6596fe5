"""The compiled solver: one source for one attempt, for eight side by side, for a batch and for tracking."""
