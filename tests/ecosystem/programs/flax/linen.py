"""A convolutional network with batch normalisation and dropout, trained with a TrainState."""

import jax
import jax.numpy as jnp
import optax
from flax import linen as nn
from flax.training import train_state


class Network(nn.Module):
    @nn.compact
    def __call__(self, x, train):
        x = nn.relu(nn.Conv(8, (3, 3))(x))
        x = nn.BatchNorm(use_running_average=not train)(x)
        x = nn.avg_pool(x, (2, 2), (2, 2)).reshape(x.shape[0], -1)
        x = nn.Dropout(0.1, deterministic=not train)(nn.Dense(32)(x))
        return nn.Dense(10)(nn.gelu(x))


class State(train_state.TrainState):
    statistics: dict


def run():
    key = jax.random.key(0)
    x = jax.random.normal(key, (32, 8, 8, 1))
    labels = jnp.arange(32) % 10
    network = Network()
    variables = network.init(key, x, train=False)
    state = State.create(
        apply_fn=network.apply,
        params=variables["params"],
        tx=optax.adam(1e-2),
        statistics=variables["batch_stats"],
    )

    @jax.jit
    def step(state, key):
        def loss(params):
            given = {"params": params, "batch_stats": state.statistics}
            logits, changed = state.apply_fn(
                given, x, train=True, rngs={"dropout": key}, mutable=["batch_stats"]
            )
            losses = optax.softmax_cross_entropy_with_integer_labels(logits, labels)
            return losses.mean(), changed["batch_stats"]

        (value, statistics), gradient = jax.value_and_grad(loss, has_aux=True)(state.params)
        return state.apply_gradients(grads=gradient).replace(statistics=statistics), value

    for number in range(40):
        state, value = step(state, jax.random.fold_in(key, number))
        yield value
    return {"loss": value, "mean": state.statistics["BatchNorm_0"]["mean"], "step": state.step}
