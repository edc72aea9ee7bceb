"""A perceptron whose weights are named arrays, trained with penzai's trainer."""

import jax
import optax
from penzai import pz
from penzai.models import simple_mlp
from penzai.toolshed import basic_training


def tagged(x):
    return pz.nx.wrap(x).tag("batch", "features")


def run():
    x = jax.random.normal(jax.random.key(0), (64, 4))
    y = (x[:, 0] * x[:, 1])[:, None]
    model = simple_mlp.MLP.from_config(
        name="mlp", init_base_rng=jax.random.key(1), feature_sizes=[4, 32, 1]
    )

    def loss(model, rng, state, x, y):
        predicted = model(tagged(x))
        error = predicted.unwrap("batch", "features") - y
        return (error**2).mean(), state, {}

    trainer = basic_training.StatefulTrainer.build(
        root_rng=jax.random.key(2),
        model=model,
        optimizer_def=optax.adam(1e-2),
        loss_fn=loss,
    )
    for _ in range(60):
        told = trainer.step(x=x, y=y)
        yield told
    result = model(tagged(x)).unwrap("batch", "features")
    layers = pz.select(model).at_instances_of(pz.nn.Linear)
    return {"error": ((result - y) ** 2).mean(), "layers": layers.count()}
