"""A mapping that cannot be changed, for what is called frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

Value = TypeVar("Value")


class FrozenMap(Mapping[str, Value]):
    """A copy of a mapping, without any way to change it. ``MappingProxyType`` would not pickle."""

    __slots__ = ("_items",)
    _items: dict[str, Value]

    def __init__(self, items: Mapping[str, Value]) -> None:
        object.__setattr__(self, "_items", dict(items))

    def __getitem__(self, name: str) -> Value:
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a FrozenMap cannot be changed: {name}")

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenMap, (dict(self._items),)

    def __repr__(self) -> str:
        return f"FrozenMap({self._items})"
