"""The primitive ``sharding_constraint``: within a program, where a value is to be."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, def_impl
from dovetail_xla.arrays import ArrayImpl

from .host_values import put_value
from .transfer import move, sharding_for

sharding_constraint_p = Primitive("sharding_constraint").def_traits(
    linear=((0,),),
    moves=True,
    parameters={"sharding": "where the value is to be"},
    places=lambda params: [params["sharding"]],
)


@sharding_constraint_p.def_abstract_eval
def _type(x: Any, *, sharding: Any) -> Any:
    return x


@sharding_constraint_p.def_decomposition
def _value(x: Any, *, sharding: Any) -> Any:
    """The value is the same wherever it is."""
    return x


@def_impl(sharding_constraint_p)
def _now(x: Any, *, sharding: Any) -> Any:
    settle = getattr(sharding, "_settled", None)  # nobody chooses dimensions outside of programs
    sharding = sharding_for(sharding if settle is None else settle(x))
    return move(x, sharding) if x.__class__ is ArrayImpl else put_value(x, sharding)
