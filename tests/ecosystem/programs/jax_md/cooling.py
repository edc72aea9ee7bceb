"""Soft spheres in a periodic box: energies, forces and a minimum of energy."""

import jax
import jax.numpy as jnp
from jax_md import energy, minimize, quantity, space


def run():
    box = 6.0
    displacement, shift = space.periodic(box)
    pair = energy.soft_sphere_pair(displacement)
    positions = jax.random.uniform(jax.random.key(0), (32, 2), maxval=box)
    force = quantity.force(pair)
    start, step = minimize.fire_descent(pair, shift)
    state = start(positions)
    step = jax.jit(step)
    energies = []
    for i in range(40):
        state = step(state)
        if i % 8 == 0:
            energies.append(float(pair(state.position)))
        yield state.position
    return {
        "energies": jnp.array(energies[:3]),
        "lower": int(energies[-1] < energies[0]),
        "force": force(positions)[0],
        "pressure": quantity.pressure(pair, positions, box),
        "hessian": jnp.trace(jax.hessian(pair)(positions)[:, 0, :, 0]),
    }
