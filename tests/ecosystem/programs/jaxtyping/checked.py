"""A data class and functions under jit and vmap, whose annotations are checked by a callback."""

import dataclasses
import functools
import inspect
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Scalar, jaxtyped


def typechecker(function):
    """Checks the annotations of arguments, as the checkers that jaxtyping is used with do."""

    @functools.wraps(function)
    def checked(*arguments, **named):
        given = inspect.signature(function).bind(*arguments, **named).arguments
        for name, value in given.items():
            hint = function.__annotations__[name]
            if hint is not Any and not isinstance(value, hint):
                raise TypeError(f"{name} is no {hint.__name__}")
        return function(*arguments, **named)

    return checked


@jaxtyped(typechecker=typechecker)
def product(a: Float[Array, "i j"], b: Float[Array, "j k"], c: Scalar) -> Float[Array, "i k"]:
    return c * (a @ b)


@dataclasses.dataclass
class Layer:
    weight: Float[Array, "out in"]


def run():
    a, b, c = jnp.ones((2, 3)), jnp.ones((3, 4)), jnp.array(2.0)
    fast = jax.jit(jax.vmap(product, in_axes=(0, None, None)))
    for _ in range(20):
        result = fast(jnp.stack([a, a]), b, c)
        yield result
    try:
        product(a, a, c)
        told = "nothing"
    except TypeError as error:
        told = type(error).__name__
    return {"sum": result.sum(), "told": told, "hint": str(Layer.__annotations__["weight"])}
