"""Operators and array methods of tracers, added by the plugin that provides ``array_methods``.

The kernel knows no array operation. The first use of an operator on a tracer loads the provider,
which installs methods on :class:`Tracer`. Types other than arrays have methods of their own:
``x.name`` finds ``name`` in the class of ``x``'s type, and an operator ``__name__`` the method
``_name`` (a type's ``_getitem(x, index)`` is ``x[index]``, its ``_add(x, y)`` is ``x + y``; also
``_add(self, x, y)``, where ``self`` is the type).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from inspect import CO_VARARGS
from types import FunctionType, GetSetDescriptorType, MemberDescriptorType
from typing import Any, NoReturn

from dovetail_base.errors import ConcretizationTypeError, PluginError
from dovetail_base.once import Once
from dovetail_base.source import current_source, describe

from ..registry.discovery import registry
from ..types.avals import ShapedArray
from .tracer import Tracer, return_remedy

__all__ = (
    "LateMethod",
    "array_methods",
    "install_loading",
    "install_methods",
    "load_methods",
    "loaded_method",
    "own_attribute",
    "own_operator",
    "refuse_tracer",
)

OPERATORS = "add sub mul matmul truediv floordiv mod divmod pow lshift rshift and or xor".split()
COMPARISONS = "eq ne lt le gt ge".split()
OTHERS = "neg pos abs invert round len iter getitem setitem contains reversed".split()
DUNDERS = [
    *(f"__{o}__" for o in OPERATORS),
    *(f"__r{o}__" for o in OPERATORS),
    *(f"__{o}__" for o in [*COMPARISONS, *OTHERS]),
]
_UNARY = "neg pos abs invert len iter complex int float index round trunc floor ceil bool reversed"
_ONE_OPERAND = {f"__{o}__" for o in _UNARY.split()}
_SINGLE = {f"__{o}__" for o in OTHERS}
_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}

_installed: dict[str, Any] = {}


def install_methods(cls: type, methods: dict[str, Any]) -> None:
    """Set methods and properties on a value class (``Tracer``, or the runtime's array type)."""
    for name, method in methods.items():
        _set(cls, name, method)
        if method.__class__ is LateMethod:
            method.attributes.append((cls, name))
    _installed.update(methods)


def _set(cls: type, name: str, method: Any) -> None:
    if cls is Tracer and name in _SINGLE:
        method = _own_first(name, method)
    elif cls is Tracer and not name.startswith("__"):
        method = _Attribute(name, method)
    setattr(cls, name, method)


class LateMethod:
    """A method that is imported when it is first used, and then replaced on its classes."""

    def __init__(self, find: Callable[[], Any]) -> None:
        self.attributes: list[tuple[type, str]] = []
        self._find = find
        self._imported: Any = None

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self.method if instance is None else self.method.__get__(instance, owner)

    @property
    def method(self) -> Any:
        """The imported method."""
        if self._imported is not None:
            return self._imported
        result = self._imported = self._find()
        for cls, name in self.attributes:
            held = vars(cls).get(name)
            if getattr(held, "provided", held) is self:
                _set(cls, name, result)
            if _installed.get(name) is self:
                _installed[name] = result
        return result


def loaded_method(provided: Any) -> Any:
    """A method or property as installed; a :class:`LateMethod` is imported."""
    return provided.method if provided.__class__ is LateMethod else provided


class _Attribute:
    """An array's method or property on tracers; types other than arrays have their own instead."""

    def __init__(self, name: str, provided: Any) -> None:
        self.name = name
        self.provided = provided
        self.__doc__ = None if provided.__class__ is LateMethod else provided.__doc__

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return loaded_method(self.provided)
        if instance.aval.__class__ is ShapedArray:
            return self.provided.__get__(instance, owner)
        return own_attribute(instance, self.name)

    def __set__(self, instance: Any, value: Any) -> None:
        raise AttributeError(f"{instance!r} is immutable: attribute {self.name!r} cannot be set")


def load_methods() -> None:
    """Let the provider install its methods on tracers, once.

    Raises:
        PluginError: no plugin provides array methods.
    """
    _load()


def _install() -> bool:
    registry().provider("array_methods")()
    return True


# Threads that call at the same time all install, so that each finds all methods afterwards.
_load = Once(_install, inside=lambda: False)


def array_methods() -> dict[str, Any]:
    """The methods and properties of arrays, for classes of values that are arrays, too."""
    load_methods()
    return dict(_installed)


def tracer_attribute(self: Tracer[Any], name: str) -> Any:
    """An attribute of a tracer that its class lacks: the provider's, or one of its type's own."""
    if not isinstance(self.aval, ShapedArray):
        return own_attribute(self, name)
    if name.startswith("_") and name != "__dlpack__":
        raise AttributeError(name)
    if not _load.is_made:
        load_methods()
        if hasattr(type(self), name):
            return getattr(self, name)
    raise AttributeError(f"{self!r} has no attribute {name!r}")


def tracer_names(self: Tracer[Any]) -> list[str]:
    """The names of a tracer's attributes, those of the provider included."""
    with suppress(PluginError):
        load_methods()
    return list(object.__dir__(self))


def own_attribute(tracer: Tracer[Any], name: str) -> Any:
    """An attribute of ``tracer`` that its type, which is no array's, defines for its values."""
    aval = tracer.aval
    result = getattr(type(aval), name, None)
    if getattr(result, "of_tracers", False):
        return result.__get__(tracer)  # type: ignore[union-attr]
    if not name.startswith("_") and result is not None and not isinstance(result, _SLOTS):
        return result.__get__(tracer)
    if name.startswith("__"):  # Python and libraries ask anything whether it has these
        raise AttributeError(name)
    result = getattr(aval, name, None)  # an attribute or method of the type
    if result is None:
        hint = ". Read its value first: ref[...]" if aval.is_mutable else ""
        raise AttributeError(f"{tracer!r} has no attribute {name!r}{hint}")
    return result.__get__(tracer) if getattr(result, "of_tracers", False) else result


_SLOTS = (MemberDescriptorType, GetSetDescriptorType)


def refuse_tracer(x: Tracer[Any], use: str) -> NoReturn:
    """Raise ConcretizationTypeError: a traced value is asked for what only an array has.

    Args:
        use: what is done to it, as a participle with its object: ``"asked for its devices"``.
    """
    x._fail(use, return_remedy, ConcretizationTypeError)  # pyright: ignore[reportPrivateUsage]


def own_method(x: Any, name: str) -> Any:
    """The method for the operator ``name`` of a tracer's type, if that is not an array's; or None.

    Raises:
        TypeError: ``x`` is a tracer of a type, not an array's, that has no such operator.
    """
    if not isinstance(x, Tracer) or isinstance(x.aval, ShapedArray):
        return None
    result: Any = getattr(type(x.aval), f"_{name.strip('_')}", None)
    if result.__class__ is FunctionType and _takes_type(result, name):
        return partial(result, x.aval)
    return result


def _takes_type(method: FunctionType, name: str) -> bool:
    """Return whether an operator is a method of the type, with the tracer as its second parameter,
    and not of tracers."""
    code = method.__code__
    if not code.co_argcount or code.co_varnames[0] != "self":
        return False
    operands = 3 if name == "__setitem__" else 1 if name in _ONE_OPERAND else 2
    required = code.co_argcount - len(method.__defaults__ or ())
    return required > operands or bool(code.co_flags & CO_VARARGS)


def own_operator(x: Any, y: Any, name: str) -> Any:
    """``x <name> y`` by the type of one of the operands, where one is not an array.

    The provider's operators call it for operands that they cannot combine. Returns NotImplemented
    if both are arrays or of unknown types.

    Raises:
        TypeError: an operand's type is not an array's, and has no such operator.
    """
    method = own_method(x, name)
    result = NotImplemented if method is None else method(x, y)
    if result is NotImplemented:
        method = own_method(y, _reflected(name))
        result = NotImplemented if method is None else method(y, x)
    if result is NotImplemented:
        for v in (x, y):
            if isinstance(v, Tracer) and not isinstance(v.aval, ShapedArray):
                _lacks(v, name)
    return result


def _reflected(name: str) -> str:
    bare = name.strip("_")
    if bare in _MIRRORED:
        return f"__{_MIRRORED[bare]}__"
    return f"__{bare[1:]}__" if bare not in OPERATORS and bare[1:] in OPERATORS else f"__r{bare}__"


def _lacks(x: Any, name: str) -> NoReturn:
    hint = " Read its value first: ref[...]." if x.aval.is_mutable else ""
    raise TypeError(f"{x!r} has no operator {name}{describe(current_source())}.{hint}")


def _own_first(name: str, provided: Any) -> Any:
    def method(self: Any, *args: Any) -> Any:
        if self.aval.__class__ is ShapedArray:
            return provided(self, *args)
        own = own_method(self, name)
        return _lacks(self, name) if own is None else own(self, *args)

    method.__name__ = name
    method.__doc__ = provided.__doc__
    return method


def _first_use(name: str) -> Any:
    def method(self: Any, *args: Any) -> Any:
        own = own_method(self, name)
        if own is not None:
            return own(self, *args)
        load_methods()
        provided = getattr(self.__class__, name)
        if provided is method:
            raise TypeError(f"{self!r} has no {name}: the plugin of array methods gives none.")
        return provided(self, *args)

    method.__name__ = name
    return method


def install_loading(cls: type) -> None:
    """Give ``cls`` operators that load the provider when first used."""
    for name in DUNDERS:
        if name != "__reversed__" and (name != "__setitem__" or cls is Tracer):
            setattr(cls, name, _first_use(name))


install_loading(Tracer)
Tracer.__getattr__ = tracer_attribute
Tracer.__dir__ = tracer_names
