"""The module name and the attributes of the runtime's array type, which other libraries read.

Libraries for arrays of many kinds (opt_einsum) import the functions for a kind from the package
that its type names as its module; for the runtime's own name, ``jaxlib``, they import JAX.
Libraries that wrap all methods of arrays (scico) list the type's attributes before any is used.
"""

from __future__ import annotations

from typing import Any

from dovetail_core import value_methods
from dovetail_xla.arrays import ArrayImpl

ArrayImpl.__module__ = __name__  # this module has it as an attribute, as pickle requires

ATTRIBUTES = (
    "T all any argmax argmin argpartition argsort astype at byteswap choose clip compress conj "
    "conjugate copy cumprod cumsum diagonal dot flat flatten imag mT max mean min nonzero prod ptp "
    "ravel real repeat reshape round searchsorted sort squeeze std sum swapaxes take to_device "
    "trace transpose var view"
).split()
"""The methods and properties that ``arrays.methods`` installs when the first of them is used."""


class _Unloaded:
    """A placeholder for an attribute of arrays, which installs them when it is read."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        value_methods.load_methods()
        if vars(ArrayImpl).get(self.name) is self:  # it is being loaded
            raise AttributeError(f"arrays have no attribute {self.name!r} yet")
        return getattr(ArrayImpl if instance is None else instance, self.name)


for _name in ATTRIBUTES:
    if _name not in vars(ArrayImpl):
        setattr(ArrayImpl, _name, _Unloaded(_name))
