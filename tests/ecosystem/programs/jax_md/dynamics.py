"""Particles with Lennard-Jones forces by lists of neighbours, at constant energy or temperature."""

import jax
import jax.numpy as jnp
from jax_md import energy, simulate, space


def run():
    box = 7.0
    displacement, shift = space.periodic(box)
    grid = jnp.stack(jnp.meshgrid(*[jnp.arange(5) * 1.4] * 2), -1).reshape(-1, 2)
    neighbours, total = energy.lennard_jones_neighbor_list(
        displacement, box, sigma=1.0, epsilon=1.0, r_cutoff=2.0, r_onset=1.5, dr_threshold=0.3
    )
    near = neighbours.allocate(grid)
    start, step = simulate.nve(total, shift, 1e-3)
    state = start(jax.random.key(0), grid, 0.5, neighbor=near)

    @jax.jit
    def steps(state, near):
        def one(_, both):
            state, near = both
            near = near.update(state.position)
            return step(state, neighbor=near), near

        return jax.lax.fori_loop(0, 20, one, (state, near))

    for _ in range(5):
        state, near = steps(state, near)
        yield state.position
    kinetic = 0.5 * jnp.sum(state.momentum**2 / state.mass)
    start, step = simulate.nvt_langevin(lambda r, **_: total(r, near), shift, 1e-3, 0.5)
    warm = start(jax.random.key(1), grid)
    for _ in range(3):
        warm = step(warm)
        yield warm.position
    return {
        "energy": kinetic + total(state.position, neighbor=near),
        "position": state.position[0],
        "overflow": int(near.did_buffer_overflow),
        "warm": warm.position[1],
    }
