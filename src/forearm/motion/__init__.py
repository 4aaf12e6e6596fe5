"""Motion: where to go (routes), how fast (profiles), and the joint reference that follows."""
