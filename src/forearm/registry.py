"""Plug-ins that are found by looking: one class a file in a package, known by its ``name``.

SOLVERS: Registry[type[Solver]] = Registry("solver", "forearm.ik.solvers")

@SOLVERS.register
class Newton: ...
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import lru_cache
from threading import RLock
from typing import Any, Generic, TypeVar, cast

from forearm.errors import InvalidInput, shown, unknown_unless_in

Plugin = TypeVar("Plugin")
Defined = TypeVar("Defined")


class Registry(Generic[Plugin]):
    """The plug-ins of one ``kind``, and the package whose files register them."""

    def __init__(self, kind: str, package: str) -> None:
        self.kind, self.package = kind, package
        self.plugins: dict[str, Plugin] = {}
        self._lock, self._loaded = RLock(), False

    def register(self, plugin: Defined) -> Defined:
        """Decorator: make a plug-in known under its ``name``.

        The same one defined again, as by a notebook cell that is run twice, takes the older one's place.
        A different one of the same name raises ``InvalidInput``.
        """
        name = cast(Any, plugin).name
        older = self.plugins.get(name)
        if older is not None and not same_origin(older, plugin):
            raise InvalidInput(
                f"{self.kind} {shown(name)}",
                f"is registered already, by {'.'.join(origin(older))}",
                "Choose another name.",
            )
        self.plugins[name] = cast(Plugin, plugin)
        return plugin

    def load(self) -> None:
        """Import every file of the package once, so that it can register."""
        with self._lock:
            if not self._loaded:
                # Set first: a file of the package may itself ask for names.
                self._loaded = True
                package = importlib.import_module(self.package)
                for module in pkgutil.iter_modules(package.__path__):
                    importlib.import_module(f"{self.package}.{module.name}")

    def names(self) -> tuple[str, ...]:
        self.load()
        return tuple(sorted(self.plugins))

    def find(self, name: str) -> Plugin:
        """The plug-in called ``name``; raises ``UnknownName``."""
        if not (self._loaded and isinstance(name, str) and name in self.plugins):
            unknown_unless_in(self.kind, name, self.names())
        return self.plugins[name]

    def make(self, name: str, **options: object) -> Any:
        """An instance of the class called ``name``; its constructor's keywords are its options."""
        plugin: Any = self.find(name)
        for option in options:
            unknown_unless_in(f"option of {self.kind} {name}", option, option_names(plugin))
        try:
            return plugin(**options)
        except TypeError as error:
            raise InvalidInput(f"{self.kind} {name!r}", f"cannot use an option: {error}") from error


@lru_cache(maxsize=128)
def option_names(plugin: Any) -> tuple[str, ...]:
    """The keywords of a plug-in's constructor."""
    return tuple(inspect.signature(plugin).parameters)


def same_origin(older: object, newer: object) -> bool:
    """Whether both are one definition, or both were typed into the running session."""
    (module, _), (other, _) = origin(older), origin(newer)
    return origin(older) == origin(newer) or module == other == "__main__"


def origin(plugin: object) -> tuple[str, str]:
    """Where a class was defined: module and qualified name."""
    kind = plugin if inspect.isclass(plugin) else type(plugin)
    return kind.__module__, kind.__qualname__
