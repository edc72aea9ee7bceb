"""``jax._src.random.prng``: what pickles of typed keys name, and their class, for ``isinstance``.
Pickles that JAX wrote are read, and those that are written under the import hook are read by JAX.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from dovetail_random import KeyArray, key_data, wrap_key_data

from ...absent_names import public
from .rbg import FUNCTIONS as _RBG, UNSAFE as _UNSAFE_RBG
from .threefry2x32 import FUNCTIONS as _THREEFRY

_MODULE = "jax._src.random.prng"
_FUNCTIONS = {"threefry2x32": _THREEFRY, "rbg": _RBG, "unsafe_rbg": _UNSAFE_RBG}


class PRNGImpl(NamedTuple):
    """A generator, as pickles say it."""

    key_shape: tuple[int, ...]
    seed: Any
    split: Any
    random_bits: Any
    fold_in: Any
    name: str
    tag: str


class _Keys(type(KeyArray)):
    """Metaclass: all typed keys are instances."""

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, KeyArray)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, KeyArray)


class PRNGKeyArray(KeyArray, metaclass=_Keys):  # type: ignore[misc]  # it becomes one when read
    """The class of typed keys; and what they are before their pickle is read to the end."""

    __slots__ = ()

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        result = wrap_key_data(state["_base_array"], impl=state["_impl"].name)
        self.__init__(result.dtype, result.lanes)
        self.__class__ = KeyArray  # type: ignore[assignment]


PRNGImpl.__module__ = PRNGKeyArray.__module__ = _MODULE  # what pickles say


def reduced(x: Any) -> tuple[Any, ...] | None:
    """The result of ``__reduce__`` of keys; None where JAX has no such generator."""
    impl = x.dtype.impl
    if impl.name not in _FUNCTIONS:
        return None
    sentence = PRNGImpl(impl.key_shape, *_FUNCTIONS[impl.name], impl.name, impl.tag)
    state = {"_impl": sentence, "_consumed": False, "_base_array": key_data(x)}
    return object.__new__, (PRNGKeyArray,), state


def __getattr__(name: str) -> Any:
    return public(_MODULE, name)
