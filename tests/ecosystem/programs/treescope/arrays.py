"""A large array, with axes named, drawn and summarised; a program's arguments in a figure."""

import jax
import jax.numpy as jnp
import treescope


def run():
    array = jax.random.normal(jax.random.key(0), (40, 30, 8))
    for _ in range(5):
        figure = treescope.render_array(array, columns=[0], rows=[1], sliders=[2])
        yield None
    told = treescope.render_to_text(array)
    integers = treescope.integer_digitbox(7, label="seven")
    html = treescope.render_to_html(integers, compressed=False)
    shown = treescope.figures.inline("loss: ", jnp.array(2.0))
    text = treescope.render_to_text(shown)
    return {"figure": type(figure).__name__, "told": told, "html": len(html) > 100, "text": text}
