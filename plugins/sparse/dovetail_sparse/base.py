"""The base class of sparse arrays, their warnings, and functions of batches."""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NoReturn, Self

import numpy as np

import dovetail_numpy as dnp
from dovetail_batching import register_vmappable, vmap
from dovetail_core import Tracer, here
from dovetail_tree.util import register_pytree_node

Array = Any


class JAXSparse(abc.ABC):
    """Base of the sparse formats: a shape, and arrays of the elements that are not zero.

    ``isinstance(x, JAXSparse)`` tells sparse arrays of every format from dense ones. They are
    pytrees of arrays, to which transformations apply.
    """

    data: Array
    shape: tuple[int, ...]
    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None  # so that NumPy's operators leave the operation to the sparse array

    def __init__(self, args: Sequence[Array], *, shape: Sequence[int]) -> None:
        self.shape = tuple(map(int, shape))

    @property
    def size(self) -> int:
        """The number of elements, those that are not stored included."""
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        """The dtype of the elements."""
        return self.data.dtype

    @property
    @abc.abstractmethod
    def nse(self) -> int:
        """The number of elements for which there is storage."""

    @abc.abstractmethod
    def tree_flatten(self) -> tuple[tuple[Array, ...], dict[str, Any]]:
        """The arrays of the sparse array, and its static attributes."""

    @classmethod
    @abc.abstractmethod
    def tree_unflatten(cls, aux_data: dict[str, Any], children: Sequence[Any]) -> Any:
        """The opposite of :meth:`tree_flatten`."""

    @abc.abstractmethod
    def todense(self) -> Array:
        """The same array, dense."""

    @abc.abstractmethod
    def transpose(self, axes: Any = None) -> Any:
        """The array with its axes in another order."""

    @property
    def T(self) -> Any:
        """The array with its axes in reverse order."""
        return self.transpose()

    def block_until_ready(self) -> Any:
        """Wait until its arrays have been computed. Returns itself."""
        for x in self.tree_flatten()[0]:
            x.block_until_ready()
        return self

    def sum(self, *args: Any, **kwargs: Any) -> Any:
        """The sum of elements along axes."""
        return self._lacks("sum")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError(f"len() of a sparse array without axes{here()}")
        return self.shape[0]

    def __repr__(self) -> str:
        name = type(self).__name__
        try:
            details = f", {more}" if (more := self._details()) else ""
            shown = (
                f"{name}({np.dtype(self.dtype).name}{list(self.shape)}, nse={self.nse}{details})"
            )
        except (AttributeError, IndexError, TypeError, ValueError):
            return f"{name}(<invalid>)"
        return f"{type(self.data).__name__}[{shown}]" if isinstance(self.data, Tracer) else shown

    def _details(self) -> str:
        return ""

    def _lacks(self, what: str) -> NoReturn:
        raise NotImplementedError(
            f"{type(self).__name__} has no {what}{here()}. BCOO has the most operations; "
            "todense() makes the array dense."
        )

    def __neg__(self) -> Any:
        return self._lacks("operator -x")

    def __pos__(self) -> Any:
        return self._lacks("operator +x")

    def __matmul__(self, other: Any) -> Any:
        return self._lacks("operator @")

    def __rmatmul__(self, other: Any) -> Any:
        return self._lacks("operator @")

    def __mul__(self, other: Any) -> Any:
        return self._lacks("operator *")

    def __rmul__(self, other: Any) -> Any:
        return self._lacks("operator *")

    def __add__(self, other: Any) -> Any:
        return self._lacks("operator +")

    def __radd__(self, other: Any) -> Any:
        return self._lacks("operator +")

    def __sub__(self, other: Any) -> Any:
        return self._lacks("operator -")

    def __rsub__(self, other: Any) -> Any:
        return self._lacks("operator -")

    def __getitem__(self, item: Any) -> Any:
        return self._lacks("indexing")


class SparseEfficiencyError(ValueError):
    """An operation would make storage much larger without permission."""


class SparseEfficiencyWarning(UserWarning):
    """An operation makes storage much larger."""


class CuSparseEfficiencyWarning(SparseEfficiencyWarning):
    """A product is computed without the GPU's sparse library, which does not support it."""


class Partitioned(JAXSparse):
    """A sparse array that is made of the arrays named by ``PARTS``."""

    PARTS: ClassVar[tuple[str, ...]]
    STATIC: ClassVar[tuple[str, ...]] = ("shape",)
    """The names of its other attributes."""

    def tree_flatten(self) -> tuple[tuple[Array, ...], dict[str, Any]]:
        """Its arrays, and its static attributes."""
        static = {name: getattr(self, name) for name in self.STATIC}
        return tuple(getattr(self, name) for name in self.PARTS), static

    @classmethod
    def tree_unflatten(cls, aux_data: dict[str, Any], children: Sequence[Any]) -> Self:
        """The array from its parts, which may be any objects: they are not checked."""
        result = object.__new__(cls)
        for name, value in (*zip(cls.PARTS, children), *aux_data.items()):
            setattr(result, name, value)
        return result


class Batched(Partitioned):
    """A sparse array with batch axes, of which ``vmap`` maps over one, and dense axes."""

    STATIC = ("shape", "indices_sorted", "unique_indices")
    indices: Array
    indices_sorted: bool
    unique_indices: bool

    @property
    @abc.abstractmethod
    def n_batch(self) -> int:
        """The number of batch axes, which come first."""

    @property
    @abc.abstractmethod
    def n_dense(self) -> int:
        """The number of dense axes, which come last."""

    def _details(self) -> str:
        counts = {"n_batch": self.n_batch, "n_dense": self.n_dense}
        return ", ".join(f"{name}={n}" for name, n in counts.items() if n)


def register_batched(kind: type[Batched]) -> None:
    """Register a class for pytrees and for ``vmap``."""
    register_pytree_node(kind, kind.tree_flatten, kind.tree_unflatten)
    register_vmappable(kind, int, int, _element, _of_elements, None)


def _element(cont: Any, index: Any, mat: Batched, axis: int | None) -> Batched:
    """The array that a mapped function gets of a batched one."""
    if axis is None:
        return mat
    if not 0 <= axis < mat.n_batch:
        name = type(mat).__name__
        hint = " update_layout(n_batch=...) makes one." if hasattr(mat, "update_layout") else ""
        raise ValueError(
            f"Cannot map in_axis={axis} for {name} array with n_batch={mat.n_batch}. in_axes for "
            f"batched {name} operations must correspond to a batch dimension{here()}.{hint}"
        )
    parts, static = mat.tree_flatten()
    shape = mat.shape[:axis] + mat.shape[axis + 1 :]
    children = [cont(x, axis) for x in broadcast_batches(mat.shape[: mat.n_batch], *parts)]
    return mat.tree_unflatten(static | {"shape": shape}, children)


def _of_elements(cont: Any, size: int, mat: Batched, axis: int | None) -> Batched:
    """The array of the elements that a mapped function returned."""
    parts, static = mat.tree_flatten()
    if axis is None:
        return mat.tree_unflatten(static, [cont(size, x, None) for x in parts])
    if not 0 <= axis <= mat.n_batch:
        name = type(mat).__name__
        raise ValueError(
            f"{name}: cannot add out_axis={axis} for {name} array with n_batch={mat.n_batch}. "
            f"{name} batch axes must be a contiguous block of leading dimensions{here()}."
        )
    shape = (*mat.shape[:axis], size, *mat.shape[axis:])
    return mat.tree_unflatten(static | {"shape": shape}, [cont(size, x, axis) for x in parts])


def over_batches(f: Callable[..., Any], n_batch: int) -> Callable[..., Any]:
    """``f`` mapped over the first ``n_batch`` axes of its arguments."""
    for _ in range(n_batch):
        f = vmap(f)
    return f


def broadcast_batches(shape: tuple[int, ...], *arrays: Any) -> tuple[Any, ...]:
    """``arrays`` with their first axes broadcast to ``shape``."""
    n = len(shape)
    return tuple(dnp.broadcast_to(x, shape + x.shape[n:]) for x in arrays)
