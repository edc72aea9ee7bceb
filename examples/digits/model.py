"""A small convolutional classifier and its training step."""

from __future__ import annotations

from typing import Any

import dovetail
import dovetail.numpy as dnp
from dovetail import lax, nn, random

Params = dict[str, Any]


def init(key: Any) -> Params:
    """Parameters: two convolutions, a hidden layer and an output layer."""
    keys = random.split(key, 4)
    he = nn.initializers.he_normal
    return {
        "conv1": he(in_axis=1, out_axis=0)(keys[0], (16, 1, 3, 3)),
        "bias1": dnp.zeros((16, 1, 1)),
        "conv2": he(in_axis=1, out_axis=0)(keys[1], (32, 16, 3, 3)),
        "bias2": dnp.zeros((32, 1, 1)),
        "hidden": he()(keys[2], (32 * 4 * 4, 128)),
        "bias3": dnp.zeros(128),
        "out": he()(keys[3], (128, 10)),
        "bias4": dnp.zeros(10),
    }


def logits(p: Params, images: Any) -> Any:
    """Class scores (n, 10) of images (n, 8, 8) with values in [0, 1]."""
    x = images[:, None, :, :]
    x = nn.relu(lax.conv(x, p["conv1"], (1, 1), "SAME") + p["bias1"])
    x = nn.relu(lax.conv(x, p["conv2"], (1, 1), "SAME") + p["bias2"])
    x = lax.reduce_window(x, -dnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    x = dnp.reshape(x, (x.shape[0], -1))
    x = nn.relu(x @ p["hidden"] + p["bias3"])
    return x @ p["out"] + p["bias4"]


def chances(p: Params, images: Any) -> Any:
    """Class probabilities (n, 10)."""
    return nn.softmax(logits(p, images))


def loss(p: Params, images: Any, labels: Any) -> Any:
    """Mean cross-entropy, with smoothed labels."""
    targets = 0.95 * nn.one_hot(labels, 10) + 0.005
    return -dnp.mean(dnp.sum(targets * nn.log_softmax(logits(p, images)), axis=-1))


def shifted(key: Any, images: Any) -> Any:
    """Every image moved by up to one pixel in each direction."""
    moves = random.randint(key, (images.shape[0], 2), 0, 3)
    padded = dnp.pad(images, ((0, 0), (1, 1), (1, 1)))
    return dovetail.vmap(lambda image, move: lax.dynamic_slice(image, move, (8, 8)))(padded, moves)


def adam(p: Params, gradient: Params, state: Any, rate: Any) -> tuple[Params, Any]:
    """One step of Adam (Kingma and Ba, 2015)."""
    count, mean, square = state
    count = count + 1
    tree_map = dovetail.tree.map
    mean = tree_map(lambda m, g: 0.9 * m + 0.1 * g, mean, gradient)
    square = tree_map(lambda s, g: 0.999 * s + 0.001 * g * g, square, gradient)
    scale = rate * dnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    new = tree_map(lambda w, m, s: w - scale * m / (dnp.sqrt(s) + 1e-8), p, mean, square)
    return new, (count, mean, square)


def step(p: Params, state: Any, key: Any, images: Any, labels: Any, rate: Any) -> Any:
    """One training step on a batch; returns parameters, optimiser state and the loss."""
    value, gradient = dovetail.value_and_grad(loss)(p, shifted(key, images), labels)
    p, state = adam(p, gradient, state, rate)
    return p, state, value
