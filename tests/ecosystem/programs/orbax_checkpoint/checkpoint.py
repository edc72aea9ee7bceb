"""Checkpoints of a training state, of which the manager keeps the last two."""

import os

import jax
import jax.numpy as jnp
import numpy as np
import orbax.checkpoint as ocp


def run():
    folder = os.path.join(os.environ["OWN_FOLDER"], "checkpoints")
    folder = ocp.test_utils.erase_and_create_empty(folder)
    state = {
        "params": {"w": jnp.arange(12.0).reshape(3, 4), "b": jnp.ones(4, jnp.bfloat16)},
        "steps": 0,
        "host": np.arange(3),
    }
    options = ocp.CheckpointManagerOptions(max_to_keep=2, save_interval_steps=1)
    with ocp.CheckpointManager(folder, options=options) as manager:
        for step in range(4):
            state["params"] = jax.tree.map(lambda x: x + 1, state["params"])
            state["steps"] = step
            manager.save(step, args=ocp.args.StandardSave(state))
            manager.wait_until_finished()
            yield None
        kept = manager.all_steps()
    return {"kept": str(sorted(kept)), "w": state["params"]["w"]}
