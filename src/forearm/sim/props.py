"""Things beside the arm that move, as the studio draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from forearm.errors import InvalidInput
from forearm.robots.drawing import Rgba
from forearm.spatial import Array

if TYPE_CHECKING:
    import mujoco


@dataclass(frozen=True, eq=False, slots=True)
class Prop:
    """Something that moves on joints of its own; it is drawn and touches nothing.

    Bodies and geoms of it whose names begin with ``studio_`` are scenery: the camera makes no room for them.
    """

    add: Callable[[mujoco.MjSpec], None]
    """Puts its bodies into the studio."""
    joints: tuple[str, ...]
    values: Array
    """(ticks, joints): where the joints are."""
    repainted: Mapping[str, Rgba] = field(default_factory=dict)
    """Colours that materials of it take on ..."""
    repainted_at: int | None = None
    """... at this tick."""

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] != len(self.joints) or not len(self.values):
            raise InvalidInput(
                "values", f"have shape {self.values.shape}", f"Give rows of {len(self.joints)} numbers."
            )


def move(props: Sequence[Prop], model: mujoco.MjModel, data: mujoco.MjData, tick: int) -> None:
    """Put the joints of ``props`` where they are at ``tick``."""
    for prop in props:
        for name, value in zip(prop.joints, prop.values[min(tick, len(prop.values) - 1)], strict=True):
            data.qpos[model.joint(name).qposadr[0]] = value


def paint(props: Sequence[Prop], model: mujoco.MjModel, own: Array, tick: int) -> None:
    """Give the materials the colours that they have at ``tick``; ``own`` are those they were made with."""
    for prop in props:
        changed = prop.repainted_at is not None and tick >= prop.repainted_at
        for name, rgba in prop.repainted.items():
            material = model.material(name)
            model.mat_rgba[material.id] = rgba if changed else own[material.id]
