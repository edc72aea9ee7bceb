"""Reading and writing arrays in NumPy's file formats."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .creation.arrays import asarray
from .operands import Array

save = np.save
savez = np.savez


def load(file: Any, *args: Any, **kwargs: Any) -> Any:
    """The array in a ``.npy`` file, or a lazy mapping of those in an ``.npz`` file."""
    found = np.load(file, *args, **kwargs)
    return asarray(found) if isinstance(found, np.ndarray) else found


def _not_pure(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name} is not supported: it reads from something that changes, so that results of traced "
        f"functions would not repeat. Use dovetail.numpy.asarray(numpy.{name}(...))."
    )


def fromfile(*args: Any, **kwargs: Any) -> Array:
    """Not supported: use ``asarray(numpy.fromfile(...))``.

    Raises:
        NotImplementedError: always.
    """
    _not_pure("fromfile")


def fromiter(*args: Any, **kwargs: Any) -> Array:
    """Not supported: use ``asarray(numpy.fromiter(...))``.

    Raises:
        NotImplementedError: always.
    """
    _not_pure("fromiter")
