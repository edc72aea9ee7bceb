"""Functions whose annotations say shapes and element types, checked as they are called."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Key, PyTree, jaxtyped


def run():
    x, key = jnp.ones((3, 4)), jax.random.key(0)

    @jaxtyped(typechecker=None)
    def checked(x):
        yes = [isinstance(x, Float[Array, "rows columns"]), isinstance(key, Key[Array, ""])]
        same = isinstance(x.T, Float[Array, "columns rows"])
        no = isinstance(x, Float[Array, "rows rows"] | Int[Array, "..."])
        return yes + [same, no]

    for _ in range(20):
        result = checked(x)
        yield None
    traced = []

    @jax.jit
    def f(x):
        traced.append(isinstance(x, Float[Array, "3 4"]))
        return x

    yield f(x)
    tree = isinstance({"a": x, "b": (x,)}, PyTree[Float[Array, "..."]])
    return {"found": str(result), "traced": str(traced), "tree": str(tree)}
