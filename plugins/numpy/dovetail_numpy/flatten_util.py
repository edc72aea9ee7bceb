"""Pytrees of arrays as vectors."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import numpy as np

from dovetail_core import here, typeof
from dovetail_lax import dtypes
from dovetail_tree.util import register_static, tree_flatten, tree_unflatten

from .creation.arrays import as_array
from .creation.filled import zeros
from .manipulation.joining import concatenate
from .manipulation.shapes import ravel, reshape
from .operands import Array

__all__ = ["ravel_pytree"]


def ravel_pytree(pytree: Any) -> tuple[Array, Callable[[Array], Any]]:
    """All elements of a pytree of arrays as one vector, and the inverse function.

    The vector has the dtype that the leaves' dtypes promote to. The function takes a vector of this
    shape and dtype and returns the pytree, each leaf in its shape and dtype; it may be returned
    from transformed functions. If all leaves have one dtype, it also takes vectors of other dtypes,
    and its leaves have the vector's.

    Raises:
        TypeError: a leaf is no array; (from the function) a vector of another dtype, where
            leaves differ in theirs.
        ValueError: (from the function) a vector of another shape.
    """
    leaves, tree = tree_flatten(pytree)
    if not leaves:
        return zeros(0), _Unravel(tree, (), (), np.dtype(np.float32))
    arrays = [as_array("ravel_pytree", x) for x in leaves]
    dtype = dtypes.result_type(*arrays)
    flat = [ravel(x) for x in arrays]
    vector = concatenate([x if x.dtype == dtype else x.astype(dtype) for x in flat])
    shapes = tuple(x.shape for x in arrays)
    return vector, _Unravel(tree, shapes, tuple(x.dtype for x in arrays), dtype)


@register_static
class _Unravel:
    """The inverse of ``ravel_pytree`` for one structure.

    Objects for the same structure, shapes and dtypes are equal, so that compiled functions may
    return them, and take them as arguments without being traced again.
    """

    def __init__(self, tree: Any, shapes: Any, own: Any, dtype: Any) -> None:
        self.key = tree, shapes, own, dtype

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Unravel) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __call__(self, vector: Any) -> Any:
        tree, shapes, own, dtype = self.key
        ends = list(accumulate(int(np.prod(s)) for s in shapes))
        size = ends[-1] if ends else 0
        aval: Any = typeof(vector)
        if aval.shape != (size,):
            raise ValueError(
                f"the way back from ravel_pytree takes a vector of shape {(size,)}, got "
                f"{aval.shape}{here()}"
            )
        converts = len({*own, dtype}) > 1
        if converts and aval.dtype != dtype:
            raise TypeError(
                f"the way back from ravel_pytree takes a vector of dtype {dtype}, got {aval.dtype}"
                f"{here()}. Convert it with astype."
            )
        vector = as_array("the way back from ravel_pytree", vector)
        parts = []
        for end, shape, dtype in zip(ends, shapes, own):
            part = reshape(vector[end - int(np.prod(shape)) : end], shape)
            if converts and part.dtype.kind == "c" != dtype.kind:
                part = part.real  # the leaf was real
            parts.append(part.astype(dtype) if converts else part)
        return tree_unflatten(tree, parts)
