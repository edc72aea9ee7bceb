"""What all sparse arrays have in common."""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from dovetail_core import Tracer, here

Array = Any


class JAXSparse(abc.ABC):
    """Base of the sparse formats: a shape, and arrays that say which elements are not zero.

    ``isinstance(x, JAXSparse)`` tells sparse arrays of every format from dense ones. They are
    pytrees: transformations go into the arrays that they are made of.
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
        """The arrays that it is made of, and the rest."""

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
        """Wait until the arrays that it is made of have been computed. Returns itself."""
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
