"""Operators and array methods of tracers, added by the plugin that provides ``array_methods``.

The kernel knows no array operation. The first use of an operator on a tracer loads the provider,
which installs methods on :class:`Tracer`; types other than arrays answer through their own methods.
"""

from __future__ import annotations

from typing import Any

from .trace import Tracer
from .types import ShapedArray

OPERATORS = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split()
DUNDERS = [
    *(f"__{o}__" for o in OPERATORS),
    *(f"__r{o}__" for o in OPERATORS),
    *(f"__{o}__" for o in "eq ne lt le gt ge".split()),
    *(f"__{o}__" for o in "neg pos abs invert round len iter getitem contains reversed".split()),
]

_installed: dict[str, Any] = {}


def install_methods(cls: type, methods: dict[str, Any]) -> None:
    """Set methods and properties on a value class (``Tracer``, or the runtime's array type)."""
    for name, method in methods.items():
        setattr(cls, name, method)
    _installed.update(methods)


def load_methods() -> None:
    """Let the provider install its methods on tracers, once.

    Raises:
        PluginError: no plugin provides array methods.
    """
    if not _installed:
        from .plugins import registry

        registry().provider("array_methods")()


def tracer_attribute(tracer: Tracer[Any], name: str) -> Any:
    """An attribute of a tracer that its class lacks: the provider's, or one of its type's own."""
    if isinstance(tracer.aval, ShapedArray):
        if not _installed:
            load_methods()
            if hasattr(type(tracer), name):
                return getattr(tracer, name)
    else:
        method = getattr(type(tracer.aval), name, None)
        if method is not None:
            return method.__get__(tracer)
    raise AttributeError(f"{tracer!r} has no attribute {name!r}")


def _first_use(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        load_methods()
        provided = getattr(self.__class__, name)
        if provided is method:
            raise TypeError(f"{self!r} has no {name}: the plugin of array methods gives none.")
        return provided(self, *args)

    method.__name__ = name
    return method


def install_first_use(cls: type) -> None:
    """Give ``cls`` operators that load the provider when first used."""
    for name in DUNDERS:
        if name != "__reversed__":
            setattr(cls, name, _first_use(name))


install_first_use(Tracer)
