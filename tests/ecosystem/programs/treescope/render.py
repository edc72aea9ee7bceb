"""Arrays and trees drawn as HTML and as text."""

import jax
import jax.numpy as jnp
import treescope


def run():
    tree = {
        "weights": jnp.arange(12.0).reshape(3, 4),
        "key": jax.random.key(0),
        "shape": jax.ShapeDtypeStruct((2, 3), jnp.bfloat16),
        "function": jnp.tanh,
    }
    for _ in range(5):
        page = treescope.render_to_html(tree, compressed=False)
        yield None
    with treescope.active_autovisualizer.set_scoped(treescope.ArrayAutovisualizer()):
        drawn = treescope.render_to_html(tree, compressed=False)
    text = treescope.render_to_text({"n": jnp.arange(3), "m": jnp.eye(2, dtype=bool)})
    return {"page": len(page) > 1000, "drawn": "canvas" in drawn or len(drawn) > 1000, "text": text}
