"""Train a classifier of handwritten digits with flax and optax: a program for JAX, as it is.

python train.py [RESULTS.npz]            with JAX
dovetail run train.py [RESULTS.npz]      with Dovetail, which it does not know
"""

import time

started = time.perf_counter()

import sys

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

imported = time.perf_counter()
EPOCHS, BATCH = 20, 64


class Classifier(nn.Module):
    """Two convolutions and a hidden layer."""

    @nn.compact
    def __call__(self, x, train):
        for features in (16, 32):
            x = nn.relu(nn.Conv(features, (3, 3))(x))
        x = nn.max_pool(x, (2, 2), (2, 2))
        x = nn.relu(nn.Dense(128)(x.reshape(len(x), -1)))
        x = nn.Dropout(0.2, deterministic=not train)(x)
        return nn.Dense(10)(x)


def data():
    """Training and held-out images (n, 8, 8, 1) in [0, 1], and their labels."""
    digits = load_digits()
    images = (digits.images[..., None] / 16).astype(np.float32)
    labels = digits.target.astype(np.int32)
    return train_test_split(images, labels, test_size=0.4, stratify=labels, random_state=0)


model = Classifier()
images, held_out, labels, held_out_labels = data()
optimizer = optax.adamw(optax.cosine_decay_schedule(2e-3, EPOCHS * (len(images) // BATCH)))


@jax.jit
def step(params, state, key, images, labels):
    """One step of training; returns the loss, too."""

    def loss(params):
        logits = model.apply(params, images, train=True, rngs={"dropout": key})
        return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

    value, gradient = jax.value_and_grad(loss)(params)
    updates, state = optimizer.update(gradient, state, params)
    return optax.apply_updates(params, updates), state, value


key, rows = jax.random.key(0), np.random.default_rng(0)
params = model.init(key, images[:1], train=False)
state = optimizer.init(params)
losses, first_step = [], 0.0
for _ in range(EPOCHS):
    order, found = rows.permutation(len(images)), []
    for at in range(0, len(images) - BATCH + 1, BATCH):
        key, dropout = jax.random.split(key)
        batch = order[at : at + BATCH]
        params, state, value = step(params, state, dropout, images[batch], labels[batch])
        found.append(value)
        first_step = first_step or (value.block_until_ready() and time.perf_counter())
    losses.append(float(jnp.mean(jnp.stack(found))))
chances = np.asarray(jax.jit(lambda x: nn.softmax(model.apply(params, x, train=False)))(held_out))
trained = time.perf_counter()

accuracy = float(np.mean(chances.argmax(axis=-1) == held_out_labels))
print(
    f"jax {jax.__version__}: imported in {imported - started:.2f} s, first step after "
    f"{first_step - started:.2f} s, trained after {trained - started:.2f} s, {accuracy:.1%} right"
)
if sys.argv[1:]:
    seconds = np.array([imported, first_step, trained]) - started
    np.savez(
        sys.argv[1], seconds=seconds, losses=losses, chances=chances, labels=held_out_labels,
        images=held_out[..., 0], version=jax.__version__,
    )  # fmt: skip
