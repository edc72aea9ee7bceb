"""The Gudermannian function: a primitive with a type rule, a decomposition and no rule."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray, current_source, describe_source, is_inexact

gudermannian_p = Primitive("acme.gudermannian")


@gudermannian_p.def_abstract_eval
def _gudermannian_type(x: ShapedArray) -> ShapedArray:
    if not is_inexact(x.dtype) or x.dtype.kind == "c":
        raise TypeError(
            f"gudermannian takes real floating-point numbers, got {x.str_short()}"
            f"{describe_source(current_source())}. Convert them first."
        )
    return x


@gudermannian_p.def_decomposition
def _gudermannian(x: Any) -> Any:
    # gd x = 2 atan(tanh(x / 2)): nothing overflows or cancels, and all derivatives are smooth.
    import dovetail_lax as lax

    return lax.mul(lax.atan(lax.tanh(lax.mul(x, 0.5))), 2.0)


def gudermannian(x: Any) -> Any:
    """The angle from -π/2 to π/2 whose tangent is ``sinh(x)``: circular and hyperbolic functions
    of the two are related without complex numbers.

    Raises:
        TypeError: ``x`` is not an array of real floating-point numbers.
    """
    return gudermannian_p.bind(x)
