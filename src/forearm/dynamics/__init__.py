"""Rigid-body dynamics on two engines, and the cross-check of everything that they compute."""
