"""``composite``: an operation made of others, which compilers may know by its name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail_core import ClosedJaxpr, Primitive, jaxpr_as_fun

composite_p = Primitive("composite", multiple_results=True)
"""``program`` says what it computes; ``attributes`` are pairs of a name and a value."""


class ArrayAttribute(NamedTuple):
    """A constant array as an attribute, which can be compared."""

    shape: tuple[int, ...]
    dtype: Any
    data: bytes

    @property
    def array(self) -> Any:
        return np.frombuffer(self.data, self.dtype).reshape(self.shape)


class TypeAttribute(NamedTuple):
    """An element type as an attribute."""

    dtype: Any


@composite_p.def_abstract_eval
def _composite_type(*operands: Any, program: ClosedJaxpr, **params: Any) -> Any:
    return program.out_avals


@composite_p.def_decomposition
def _decomposed(*operands: Any, program: ClosedJaxpr, **params: Any) -> Any:
    """Transformations go through what it is made of: the result is no longer what the name says."""
    return list(jaxpr_as_fun(program)(*operands))
