"""What the array API standard lets programs ask of a namespace of array functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import devices as _devices
from dovetail_core import canonical_dtype

from .operands import here

__array_api_version__ = "2024.12"
_KINDS = {
    "bool": ("bool",),
    "signed integer": ("int8", "int16", "int32", "int64"),
    "unsigned integer": ("uint8", "uint16", "uint32", "uint64"),
    "real floating": ("float32", "float64"),
    "complex floating": ("complex64", "complex128"),
}
_KINDS["integral"] = (*_KINDS["signed integer"], *_KINDS["unsigned integer"])
_KINDS["numeric"] = (*_KINDS["integral"], *_KINDS["real floating"], *_KINDS["complex floating"])


class NamespaceInfo:
    """Capabilities, devices and dtypes of ``dovetail.numpy`` (array API 2024.12, inspection)."""

    def capabilities(self) -> dict[str, Any]:
        """What not every library of arrays can do; what holds in compiled functions."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 64}

    def default_device(self) -> Any:
        """None: arrays that nobody has put on a device follow those that were."""
        return None

    def devices(self) -> list[Any]:
        """The devices on which arrays can be; None is the default."""
        return [None, *_devices()]

    def default_dtypes(self, *, device: Any = None) -> dict[str, Any]:
        """The dtypes of arrays made without one; of 64 bits with ``enable_x64``."""
        return {
            "real floating": canonical_dtype(np.float64),
            "complex floating": canonical_dtype(np.complex128),
            "integral": canonical_dtype(np.int64),
            "indexing": canonical_dtype(np.int64),
        }

    def dtypes(self, *, device: Any = None, kind: str | tuple[str, ...] | None = None) -> Any:
        """The standard's dtypes that arrays can have, by name; of certain kinds.

        Raises:
            ValueError: there is no such kind; lists them.
        """
        kinds = (*_KINDS,) if kind is None else (kind,) if isinstance(kind, str) else kind
        for k in kinds:
            if k not in _KINDS:
                raise ValueError(
                    f"there is no kind of dtypes {k!r}{here()}; kinds are {', '.join(_KINDS)}"
                )
        names = dict.fromkeys(name for k in kinds for name in _KINDS[k])
        result = {name: np.dtype(name) for name in names}
        return {n: d for n, d in result.items() if canonical_dtype(d) == d}


def __array_namespace_info__() -> NamespaceInfo:
    """What programs may ask of this namespace: see :class:`NamespaceInfo`."""
    return NamespaceInfo()
