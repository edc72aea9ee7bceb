"""Losses that programs register by primitives of the library, their products with curvature."""

import jax
import jax.numpy as jnp
import kfac_jax


def run():
    keys = jax.random.split(jax.random.key(0), 3)
    weights = jax.random.normal(keys[0], (5, 3))
    x, labels = jax.random.normal(keys[1], (16, 5)), jnp.arange(16) % 3

    @jax.jit
    def registered(weights):
        logits = x @ weights
        kfac_jax.register_softmax_cross_entropy_loss(logits, labels)
        kfac_jax.register_squared_error_loss(logits, jax.nn.one_hot(labels, 3))
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(16), labels])

    slope = jax.jit(jax.grad(registered))
    every = jax.jit(jax.vmap(registered))
    for _ in range(10):
        value = registered(weights)
        yield value, slope(weights)
    tagged = str(jax.make_jaxpr(registered)(weights)).count("loss")

    @jax.jit
    def products(logits, vector):
        loss = kfac_jax.CategoricalLogitsNegativeLogProbLoss(logits, labels)
        normal = kfac_jax.NormalMeanNegativeLogProbLoss(logits, jnp.zeros_like(logits))
        return (
            *loss.multiply_fisher((vector,)),
            *loss.multiply_fisher_factor(
                jnp.ones_like(loss.multiply_fisher_factor_transpose((vector,)))
            ),
            *normal.multiply_ggn((vector,)),
            loss.evaluate(),
        )

    fisher, factor, normal, evaluated = products(x @ weights, jnp.ones((16, 3)).at[:, 0].set(2))
    return {
        "value": value,
        "slope": slope(weights),
        "every": every(jnp.stack([weights, 2 * weights])),
        "tagged": int(tagged > 0),
        "fisher": fisher[3],
        "factor": factor[3],
        "normal": normal[3],
        "evaluated": evaluated.sum(),
    }
