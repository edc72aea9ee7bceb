"""Checkpoints that the program `checkpoint` wrote in another process are read; then its own are."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp


def run():
    shapes = {
        "params": {
            "w": jax.ShapeDtypeStruct((3, 4), jnp.float32),
            "b": jax.ShapeDtypeStruct((4,), jnp.bfloat16),
        },
        "steps": 0,
        "host": np.zeros(3, int),
    }
    place = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    shapes["params"] = jax.tree.map(
        lambda s: jax.ShapeDtypeStruct(s.shape, s.dtype, sharding=place), shapes["params"]
    )
    result = {}
    # Which of the two sides wrote it first is what differs; the numbers are the same.
    for name in ("OTHER_FOLDER", "OWN_FOLDER"):
        folder = os.path.join(os.environ[name], "checkpoints")
        if not os.path.exists(folder):
            continue
        with ocp.CheckpointManager(folder) as manager:
            last = manager.latest_step()
            state = manager.restore(last, args=ocp.args.StandardRestore(shapes))
            yield state["params"]
        result[name] = state["params"]["w"]
        result[name + "_b"] = state["params"]["b"].astype(jnp.float32)
        result[name + "_steps"] = state["steps"]
        assert state["params"]["b"].dtype == jnp.bfloat16
    return result
