"""Three steps of the example digits on a mesh of all processes, and on one device."""

import sys
from pathlib import Path

import numpy as np
from common import start

import dovetail as dt
import dovetail.numpy as dnp

sys.path.insert(0, str(Path(__file__).parents[4] / "examples" / "digits"))
import model
from placing import OneDevice, OnMesh


def losses(place):
    key = dt.random.key(0)
    params = model.init(key)
    zeros = dt.tree.map(dnp.zeros_like, params)
    state = (dnp.zeros(()), zeros, dt.tree.map(dnp.zeros_like, params))
    params, state, key = place.same((params, state, key))
    step = dt.jit(model.step, **place.shardings)
    draw = np.random.default_rng(0)
    result = []
    for _ in range(3):
        images = draw.uniform(size=(16, 8, 8)).astype(np.float32)
        labels = draw.integers(0, 10, 16).astype(np.int32)
        key, move = dt.random.split(key)
        batch = place.batch(images), place.batch(labels)
        params, state, value = step(params, state, move, *batch, np.float32(0.001))
        result.append(float(value))
    return result


start()
np.testing.assert_allclose(losses(OnMesh("data=4")), losses(OneDevice()), rtol=1e-5)
