"""``composite``: an operation made of others, which compilers may know by its name."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail_core import ClosedJaxpr, Primitive, jaxpr_as_fun, typeof

from .traits import describe
from .values import convert_element_type_p

composite_p = Primitive("composite", multiple_results=True)
"""``program`` is what it computes; ``attributes`` are pairs of a name and a value."""


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
    """The results of the program, in its types: transformations lose the name of the composite."""
    outs: Any = zip(jaxpr_as_fun(program)(*operands), program.out_avals)
    return [x if typeof(x) == a else _as(x, a) for x, a in outs]


def _as(x: Any, aval: Any) -> Any:
    return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=aval.weak_type)


describe(__name__)
