"""Rearranged, reduced and repeated arrays, under jit, grad and vmap."""

import jax
import jax.numpy as jnp
from einops import einsum, pack, parse_shape, rearrange, reduce, repeat, unpack


def run():
    x = jnp.arange(2 * 8 * 8 * 3.0).reshape(2, 8, 8, 3)

    @jax.jit
    def patches(x):
        rows = rearrange(x, "b (h p) (w q) c -> b (h w) (p q c)", p=4, q=4)
        pooled = reduce(x, "b (h 2) (w 2) c -> b c h w", "max")
        return rows, pooled, repeat(pooled.mean((2, 3)), "b c -> b (c r)", r=2)

    gradient = jax.jit(jax.grad(lambda x: reduce(x**2, "b h w c -> c", "mean").sum()))
    for _ in range(50):
        rows, pooled, repeated = patches(x)
        yield rows, gradient(x)
    packed, shapes = pack([rows, rows[:, :2]], "b * d")
    first, _ = unpack(packed, shapes, "b * d")
    scores = einsum(rows, rows, "b i d, b j d -> b i j")
    result = {"pooled": pooled.sum(), "repeated": repeated, "gradient": gradient(x).sum()}
    result |= {"scores": scores[0, 0], "first": first.sum()}
    return {**result, "axes": str(parse_shape(x, "b h w c"))}
