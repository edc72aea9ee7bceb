"""The class ``ufunc``: elementwise functions that also reduce, accumulate and act at indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base import arguments
from dovetail_core import Tracer, callable_name, here

from ..creation.arrays import as_array
from ..operands import Array, ArrayLike, axis_index, no_out
from ..operations import reshape as to_shape, shape_of, truth
from ..promotion import broadcast
from . import folding


class ufunc:  # lower case: NumPy's name
    """A function that acts on each element, with the methods of ``numpy.ufunc``.

    Attributes:
        nin, nout, nargs: the numbers of operands, results and arguments.
        identity: the value that a reduction of nothing has, if there is one.
        associates: whether operands may be combined in a tree.
    """

    def __init__(
        self, func: Callable[..., Any], /, nin: int, nout: int, *, name: str | None = None,
        nargs: int | None = None, identity: Any = None, call: Callable[..., Any] | None = None,
        reduce: Callable[..., Any] | None = None, accumulate: Callable[..., Any] | None = None,
        at: Callable[..., Any] | None = None, associative: bool = False,
    ) -> None:  # fmt: skip
        self._func = func
        self._call = call or func
        self.nin, self.nout = nin, nout
        self.nargs = nin if nargs is None else nargs
        self.identity = identity
        self.__name__ = name or callable_name(func)
        self.__doc__ = func.__doc__
        self.__module__ = "dovetail.numpy"
        self._reduce, self._accumulate, self._at = reduce, accumulate, at
        self.associates = associative

    def __call__(self, *args: ArrayLike, out: None = None, where: None = None) -> Any:
        if out is not None or where is not None:
            no_out(self.__name__, out)
            raise NotImplementedError(
                f"the 'where' argument of {self.__name__} is not supported: use "
                f"dovetail.numpy.where on the result{here()}"
            )
        if len(args) != self.nin:
            raise TypeError(f"{self.__name__} takes {self.nin} arguments, got {len(args)}{here()}")
        return self._call(*args)

    def __repr__(self) -> str:
        return f"<ufunc {self.__name__!r}>"

    def _binary(self, method: str) -> None:
        if self.nin != 2 or self.nout != 1:
            raise ValueError(
                f"{self.__name__}.{method} is for functions of two operands only{here()}"
            )

    def reduce(
        self, a: ArrayLike, axis: Any = 0, dtype: Any = None, out: None = None,
        keepdims: bool = False, initial: ArrayLike | None = None, where: ArrayLike | None = None,
    ) -> Array:  # fmt: skip
        """Combine elements along an axis from first to last.

        Raises:
            ValueError: there is nothing to combine and the function has no identity.
        """
        self._binary("reduce")
        no_out(f"{self.__name__}.reduce", out)
        if self._reduce is not None:
            options = {} if initial is None else {"initial": initial}
            options |= {} if where is None else {"where": where}
            options |= {} if dtype is None else {"dtype": dtype}
            return self._reduce(a, axis=axis, keepdims=keepdims, **options)
        a = as_array(self.__name__, a)
        a = a if dtype is None else lax.convert_element_type(a, dtype)
        mask = None
        if where is not None:
            mask = broadcast(truth(as_array(self.__name__, where, 1)), a.shape)
        if axis is None and a.ndim > 1:
            flat = to_shape(a, (a.size,))
            out = self._fold(
                flat, 0, False, initial, None if mask is None else to_shape(mask, flat.shape)
            )
            return to_shape(out, (1,) * a.ndim) if keepdims else out
        if isinstance(axis, tuple):
            raise NotImplementedError(f"{self.__name__}.reduce over a tuple of axes{here()}")
        at = axis_index(self.__name__, 0 if axis is None else axis, a.ndim)
        return self._fold(a, at, keepdims, initial, mask)

    def _fold(self, a: Any, axis: int, keepdims: bool, initial: Any, mask: Any) -> Array:
        rows = folding.to_front(a, axis)
        kept = None if mask is None else folding.to_front(mask, axis)
        start = self.identity if initial is None else initial
        if start is None and (mask is not None or not len(rows)):
            what = "of nothing" if mask is None else "with a mask where, and no initial"
            raise ValueError(f"{self.__name__}.reduce {what}: it has no identity{here()}")
        if mask is None and initial is None and len(rows):
            if self.associates:
                out = folding.tree_fold(self._func, rows)
            else:
                out = folding.fold(self._func, rows[0], rows[1:])
        else:
            out = folding.fold(self._func, lax.full(rows.shape[1:], start, a.dtype), rows, kept)
        return lax.expand_dims(out, (axis,)) if keepdims else out

    def accumulate(
        self, a: ArrayLike, axis: int | None = 0, dtype: Any = None, out: None = None
    ) -> Array:
        """All results of combining elements along an axis from first to last.

        Functions that have a quick form (sums, products, extremes) take None, too: all elements.

        Raises:
            ValueError: the axis is None, and the function has no quick form.
        """
        self._binary("accumulate")
        no_out(f"{self.__name__}.accumulate", out)
        a = as_array(self.__name__, a)
        a = a if dtype is None else lax.convert_element_type(a, dtype)
        if self._accumulate is not None and (axis is None or not a.ndim):
            a, axis = to_shape(a, (a.size,)), 0
        if axis is None:
            raise ValueError(f"{self.__name__}.accumulate needs one axis, got None{here()}")
        axis = axis_index(self.__name__, axis, a.ndim)
        if self._accumulate is not None:
            return self._accumulate(a, axis=axis)
        if not a.shape[axis]:
            return a
        if self.associates:
            return lax.associative_scan(self._func, folding.prepared(self._func, a), axis=axis)
        return folding.from_front(folding.partials(self._func, folding.to_front(a, axis)), axis)

    def at(
        self, a: ArrayLike, indices: Any, b: ArrayLike | None = None, /, *, inplace: bool = True
    ) -> Array:
        """A copy of ``a`` with the function applied at ``indices``, once for each occurrence.

        Raises:
            NotImplementedError: ``inplace`` is not False.
        """
        if inplace:
            raise NotImplementedError(
                f"{self.__name__}.at cannot change an array in place: pass inplace=False"
            )
        a = as_array(self.__name__, a)
        if self._at is not None:
            return self._at(a, indices, b)
        if b is None:
            return a.at[indices].apply(self._func)
        parts = indices if isinstance(indices, tuple) else (indices,)
        if not any(isinstance(i, list) or shape_of(i) for i in parts):  # no element twice
            return a.at[indices].set(self._func(a[indices], b))
        order = to_shape(lax.iota(np.int32, a.size), a.shape)
        positions = order.at[indices].get(mode="fill", fill_value=a.size)
        return folding.update_sequentially(self._func, a, positions, as_array(self.__name__, b, 2))

    def reduceat(
        self, a: ArrayLike, indices: Any, axis: int = 0, dtype: Any = None, out: None = None
    ) -> Array:
        """Reductions of the pieces of an axis that start at ``indices``.

        A piece ends where the next one starts, the last one with the axis; one that would end
        before its start is the element there.

        Raises:
            ValueError: indices are no vector of integers, or the axis is not one integer.
            IndexError: a concrete index is out of bounds; traced ones are clamped.
        """
        self._binary("reduceat")
        no_out(f"{self.__name__}.reduceat", out)
        a = as_array(self.__name__, a)
        where = as_array(f"{self.__name__}.reduceat", indices, 1)
        if where.dtype.kind not in "iu" or where.ndim != 1:
            raise ValueError(
                f"{self.__name__}.reduceat takes a vector of integers as indices, got "
                f"{where.aval.str_short()}{here()}"
            )
        if axis is None or isinstance(axis, (tuple, list)):
            raise ValueError(f"{self.__name__}.reduceat needs one axis, got {axis}{here()}")
        axis = axis_index(self.__name__, axis, a.ndim)
        concrete = None if isinstance(where, Tracer) else np.asarray(where, np.int64)
        n, beyond = a.shape[axis], np.zeros(where.shape) if concrete is None else concrete
        if not all(0 <= i < n for i in beyond):
            raise IndexError(
                f"{self.__name__}.reduceat takes indices from 0 to {n - 1} for an axis of length "
                f"{n}, got {indices}{here()}"
            )
        a = a if dtype is None else lax.convert_element_type(a, dtype)
        out = folding.reduce_pieces(self, folding.to_front(a, axis), where, concrete)
        return folding.from_front(out, axis)

    def outer(self, A: ArrayLike, B: ArrayLike, /) -> Array:
        """The function of all pairs of elements; the result has the dimensions of both."""
        self._binary("outer")
        a, b = as_array(self.__name__, A), as_array(self.__name__, B, 1)
        a, b = to_shape(a, a.shape + (1,) * b.ndim), to_shape(b, (1,) * a.ndim + b.shape)
        return self._call(a, b)


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, *, identity: Any = None) -> ufunc:
    """A ufunc from a function of scalars, which is mapped over elements.

    Raises:
        TypeError: ``func`` is not callable.
    """
    from ..functional import vectorize

    if not callable(func):
        raise TypeError(f"frompyfunc takes a function, got {type(func).__name__}{here()}")
    nin, nout = arguments.integer("nin", nin), arguments.integer("nout", nout)
    mapped = vectorize(func)
    name = callable_name(func)
    return ufunc(mapped, nin, nout, name=f"{name} (vectorized)", identity=identity)
