"""Random numbers from a generator that has a state."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

import dovetail_numpy as dnp
import dovetail_random as stateless
from dovetail_core import get_trace, here, typeof
from dovetail_lax import dtypes
from dovetail_refs import new_ref
from dovetail_tree.util import register_pytree_node

__all__ = ["StatefulPRNG", "stateful_rng"]

Size = int | Sequence[int] | None


class StatefulPRNG:
    """A generator of random numbers whose state is updated as they are drawn.

    The n-th draw uses the key ``fold_in(base key, n)``; n is counted in a mutable reference. So
    functions under transformations may close over a generator or take it as an argument; they
    cannot return one, as they cannot return references.

    Raises:
        ValueError: the key is no typed key, or the counter is no reference to integers.
    """

    __slots__ = ("_base_key", "_counter")

    def __init__(self, _base_key: Any, _counter: Any) -> None:
        if not dnp.issubdtype(getattr(_base_key, "dtype", None), dtypes.prng_key):
            raise ValueError(
                f"StatefulPRNG{here()}: the base key is of type {type(_base_key).__name__}; give a "
                "typed key (random.key)."
            )
        if not _is_counter(_counter):
            raise ValueError(
                f"StatefulPRNG{here()}: the counter is of type {type(_counter).__name__}; give a "
                "reference to an integer (new_ref(0))."
            )
        self._base_key, self._counter = _base_key, _counter

    def __repr__(self) -> str:
        return f"StatefulPRNG(_base_key={self._base_key!r}, _counter={self._counter!r})"

    def key(self, shape: int | Sequence[int] = ()) -> Any:
        """A new key, or an array of keys of this shape.

        Raises:
            ValueError: this is a generator that :meth:`split` made, and not mapped over.
        """
        if self._base_key.shape:
            raise ValueError(
                f"StatefulPRNG{here()}: this generator was split to the shape "
                f"{self._base_key.shape}; map a function over it (vmap), or use spawn."
            )
        shape = (index(shape),) if not isinstance(shape, Sequence) else tuple(shape)
        key = stateless.fold_in(self._base_key, self._counter[...])
        self._counter[...] = self._counter[...] + 1
        return stateless.split(key, shape) if shape else key

    def random(self, size: Size = None, dtype: Any = float) -> Any:
        """Numbers from [0, 1), all equally probable."""
        return self.uniform(size=size, dtype=dtype)

    def uniform(self, low: Any = 0, high: Any = 1, size: Size = None, *, dtype: Any = float) -> Any:
        """Numbers from [low, high), all equally probable.

        ``size`` is the shape; without it, that which ``low`` and ``high`` have together.
        """
        shape = _shape(size, low, high)
        return stateless.uniform(self.key(), shape, dtype=dtype, minval=low, maxval=high)

    def normal(self, loc: Any = 0, scale: Any = 1, size: Size = None, *, dtype: Any = float) -> Any:
        """Normally distributed numbers with mean ``loc`` and standard deviation ``scale``."""
        return loc + scale * stateless.normal(self.key(), _shape(size, loc, scale), dtype=dtype)

    def integers(self, low: Any, high: Any = None, size: Size = None, *, dtype: Any = int) -> Any:
        """Integers from [low, high), or from [0, low) without ``high``, all equally probable."""
        low, high = (0, low) if high is None else (low, high)
        return stateless.randint(self.key(), _shape(size, low, high), low, high, dtype=dtype)

    def spawn(self, n_children: int) -> list[StatefulPRNG]:
        """A list of new generators that are independent of each other.

        Raises:
            ValueError: their number is negative.
        """
        if n_children < 0:
            raise ValueError(f"spawn{here()}: n_children is {n_children}; it must not be negative.")
        return [StatefulPRNG(key, new_ref(0)) for key in self.key(n_children)] if n_children else []

    def split(self, num: int | Sequence[int]) -> StatefulPRNG:
        """Independent generators as one that functions are mapped over (``vmap``)."""
        key = self.key(num)
        return StatefulPRNG(key, new_ref(dnp.zeros(key.shape, int)))


def stateful_rng(seed: Any = None, *, impl: str | None = None) -> StatefulPRNG:
    """A generator of random numbers that keeps its state, in the manner of NumPy's.

    Args:
        seed: an integer. It may be left out where no function is being traced; then it comes from
            the operating system.
        impl: the algorithm, as :func:`dovetail.random.key` takes it.

    Raises:
        TypeError: the seed is left out in a function that is being traced, or is no integer.
    """
    if seed is None:
        if not get_trace().computes:
            raise TypeError(
                f"stateful_rng{here()}: a function is being traced, which would make one seed for "
                "all of its calls; give a seed."
            )
        seed = int(np.random.SeedSequence().generate_state(1)[0] >> 1)
    return StatefulPRNG(stateless.key(seed, impl=impl), new_ref(0))


def _shape(size: Size, *parameters: Any) -> tuple[int, ...]:
    if size is None:
        return np.broadcast_shapes(*[np.shape(x) for x in parameters])
    return tuple(size) if isinstance(size, Sequence) else (index(size),)


def _is_counter(x: Any) -> bool:
    try:
        aval: Any = typeof(x)
    except TypeError:
        return False
    inner = getattr(aval, "inner", aval)
    return aval.is_mutable and getattr(inner, "dtype", np.dtype(float)).kind in "iu"


def _unflatten(_: None, parts: Sequence[Any]) -> StatefulPRNG:
    made = object.__new__(StatefulPRNG)  # the parts may be placeholders
    made._base_key, made._counter = parts
    return made


register_pytree_node(StatefulPRNG, lambda g: ((g._base_key, g._counter), None), _unflatten)
