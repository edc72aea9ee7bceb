"""Arrays with named axes: lifted functions, contractions and selections."""

import jax
import jax.numpy as jnp
from penzai import pz


def run():
    a = pz.nx.wrap(jax.random.normal(jax.random.key(0), (3, 4, 5))).tag("batch", "rows", "inner")
    b = pz.nx.wrap(jax.random.normal(jax.random.key(1), (5, 6))).tag("inner", "columns")

    @jax.jit
    def product(a, b):
        return pz.nx.nmap(jnp.dot)(a.untag("inner"), b.untag("inner"))

    for _ in range(50):
        c = product(a, b)
        yield c
    softened = pz.nx.nmap(jax.nn.softmax)(c.untag("columns")).tag("columns")
    picked = c[{"rows": 1, "columns": pz.slice[2:4]}]
    tree = pz.select({"x": 1, "y": (2, 3)}).at_instances_of(int).apply(lambda v: v * 10)
    return {
        "sum": softened.unwrap("batch", "rows", "columns").sum(),
        "picked": picked.unwrap("batch", "columns"),
        "tree": str(tree),
        "axes": str(dict(c.named_shape)),
    }
