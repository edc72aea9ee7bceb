"""Python functions as programs call them, with NumPy arrays and checked results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dovetail_core import (
    ShapedArray,
    callable_name,
    canonical_dtype,
    current_source,
    describe_source,
    is_value,
    lower_values,
    raise_values,
    short_dtype,
    typeof,
)
from dovetail_tree.util import tree_flatten, tree_flatten_with_path, tree_unflatten


class HostFunction:
    """A user's function with the structures of its arguments and result.

    Two objects with one function and equal structures are equal, so that equal programs are.

    Args:
        fun: called with arguments of structure ``in_tree``.
        static: positions among the leaves, and values, of arguments that are not arrays.
        out_tree: the structure of its result, or None if the result is ignored.
    """

    __slots__ = ("fun", "in_tree", "static", "out_tree", "what", "source")

    def __init__(
        self,
        what: str,
        fun: Callable[..., Any],
        in_tree: Any,
        out_tree: Any = None,
        static: tuple[tuple[int, Any], ...] = (),
    ) -> None:
        self.fun = fun
        self.in_tree = in_tree
        self.static = static
        self.out_tree = out_tree
        self.what = what
        self.source = current_source()

    def __call__(self, *arrays: Any) -> list[Any]:
        """The leaves of the function's result for arguments of these leaves.

        Raises:
            TypeError: the result does not have the declared structure; a list may be a tuple.
        """
        leaves = list(arrays)
        for i, x in self.static:
            leaves.insert(i, x)
        args, kwargs = tree_unflatten(self.in_tree, leaves)
        out = self.fun(*args, **kwargs)
        if self.out_tree is None:
            return []
        result, tree = tree_flatten(out)
        if tree != self.out_tree and not _have_equal_paths(tree, self.out_tree):
            raise TypeError(
                f"{self} returned a result of structure {tree}, but result_shape_dtypes has "
                f"{self.out_tree}. Return what was declared, or declare what is returned."
            )
        return result

    def write(self, context: Any, ins: Sequence[Any], outs: Sequence[Any]) -> None:
        """Call the function on buffers of its arguments and results.

        Raises:
            TypeError: it returns something.
        """
        args, kwargs = tree_unflatten(self.in_tree, list(ins))
        result = self.fun(context, tree_unflatten(self.out_tree, list(outs)), *args, **kwargs)
        if result is not None:
            raise TypeError(
                f"{self} returned a {type(result).__name__}, but its results are what it writes "
                "to the buffers of its second argument (numpy.asarray(out)[...] = value). "
                "Return None."
            )

    def checked(self, result_avals: Sequence[Any], *arrays: Any) -> list[Any]:
        """The result's leaves as arrays of the declared types.

        Raises:
            TypeError: structure, shape or dtype differ; names the function and the leaf.
        """
        result = self(*arrays)
        return [self._leaf(i, x, a) for i, (x, a) in enumerate(zip(result, result_avals))]

    def _leaf(self, position: int, value: Any, aval: ShapedArray) -> Any:
        array = np.asarray(value)
        if array.shape == aval.shape and array.dtype == aval.dtype:
            return array
        if array.shape == aval.shape and canonical_dtype(array.dtype) == aval.dtype:
            return array.astype(aval.dtype)
        got = ShapedArray(array.shape, array.dtype) if array.dtype.kind != "O" else None
        got_text = got.str_short() if got else f"a {type(value).__name__}"
        raise TypeError(
            f"{self} returned {got_text} as leaf {position} of its result, but result_shape_dtypes "
            f"says {aval.str_short()}. Convert it (numpy.asarray(value, "
            f"'{np.dtype(aval.dtype).name}')), or declare {short_dtype(array.dtype)} and its shape."
            if got
            else f"{self} returned {got_text}, which is no array, as leaf {position} of its result."
        )

    def on_arrays(self, avals: Sequence[Any]) -> HostFunction:
        """The same function, called with the arrays of arguments of types ``avals``."""
        return _OnArrays(self, avals)

    def _key(self) -> Any:
        return id(self.fun), self.in_tree, self.out_tree, self.what

    def __hash__(self) -> int:
        return hash(self._key())

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, HostFunction)
            and self._key() == other._key()
            and (self.static is other.static or self.static == other.static == ())
        )

    def __str__(self) -> str:
        return f"{self.what} of {callable_name(self.fun)}{describe_source(self.source)}"

    __repr__ = __str__


def _have_equal_paths(one: Any, other: Any) -> bool:
    """True if two structures have leaves at equal paths, as a list and a tuple have."""
    paths = [
        [path for path, _ in tree_flatten_with_path(tree_unflatten(t, [0] * t.num_leaves))[0]]
        for t in (one, other)
    ]
    return paths[0] == paths[1]


class _OnArrays(HostFunction):
    """A function of high values, called with the arrays that they consist of."""

    __slots__ = ("avals",)

    def __init__(self, of: HostFunction, avals: Sequence[Any]) -> None:
        super().__init__(of.what, of.fun, of.in_tree, of.out_tree, of.static)
        self.source = of.source
        self.avals = tuple(avals)

    def __call__(self, *arrays: Any) -> list[Any]:
        result = super().__call__(*raise_values(arrays, self.avals))
        return [x for v in result for x in _arrays_of(v, self.what)]

    def _key(self) -> Any:
        return super()._key(), self.avals


def _arrays_of(value: Any, what: str) -> Sequence[Any]:
    high = is_value(value) and typeof(value).is_high
    return lower_values([value], f"returned to {what}") if high else (value,)
