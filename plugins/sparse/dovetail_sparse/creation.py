"""Creation of sparse arrays in a given format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import Tracer, here

from .base import Array, JAXSparse
from .bcoo.array import BCOO
from .bcsr import BCSR
from .coo import COO
from .csr import CSC, CSR
from .primitives import todense_p

_FORMATS: dict[str, Any] = {"bcoo": BCOO, "bcsr": BCSR, "coo": COO, "csr": CSR, "csc": CSC}


def _format(name: str) -> Any:
    if name not in _FORMATS:
        raise ValueError(
            f"sparse_format={name!r} not recognized; must be one of {list(_FORMATS)}{here()}"
        )
    return _FORMATS[name]


def empty(
    shape: Sequence[int],
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> JAXSparse:
    """A sparse array of zeros, none of which is stored.

    Args:
        sparse_format: ``"bcoo"``, ``"bcsr"``, ``"coo"``, ``"csr"`` or ``"csc"``.
        kwds: of the first two formats: ``n_batch``, ``n_dense``, and ``nse``, the number of
            elements to have storage for.

    Raises:
        ValueError: there is no such format.
    """
    return _format(sparse_format)._empty(shape, dtype=dtype, index_dtype=index_dtype, **kwds)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = None,
    index_dtype: Any = "int32",
    sparse_format: str = "bcoo",
    **kwds: Any,
) -> JAXSparse:
    """A sparse matrix with ones on a diagonal.

    Args:
        N, M: the numbers of rows and of columns, which are equal by default.
        k: the diagonal's number: positive above the main one.
        sparse_format: ``"bcoo"``, ``"coo"``, ``"csr"`` or ``"csc"``.
        kwds: of the first format: ``n_batch`` and ``n_dense``.

    Raises:
        ValueError: there is no such format.
    """
    columns = N if M is None else M
    kind = _format(sparse_format)
    if kind is BCSR:
        raise NotImplementedError(f"eye in the format BCSR{here()}; BCSR.from_bcoo makes it one")
    return kind._eye(N, columns, k, dtype=dtype, index_dtype=index_dtype, **kwds)


def todense(arr: Any) -> Array:
    """A sparse array as a dense one; dense ones are returned as they are.

    In a function under :func:`sparsify`, arrays that look dense may be sparse: they become dense.
    """
    if isinstance(arr, Tracer):
        return todense_p.bind(arr)
    return arr.todense() if isinstance(arr, JAXSparse) else arr
