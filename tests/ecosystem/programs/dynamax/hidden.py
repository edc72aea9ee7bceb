"""Hidden Markov models: forward and backward, the most likely states, and learning by gradients."""

import jax
import optax
from dynamax.hidden_markov_model import CategoricalHMM, GaussianHMM


def run():
    model = GaussianHMM(3, 2)
    parameters, properties = model.initialize(jax.random.key(0))
    states, emissions = model.sample(parameters, jax.random.key(1), num_timesteps=50)
    smoothed = jax.jit(lambda e: model.smoother(parameters, e).smoothed_probs)
    path = jax.jit(lambda e: model.most_likely_states(parameters, e))
    for _ in range(5):
        result = smoothed(emissions), path(emissions)
        yield result
    learnt, losses = model.fit_sgd(
        parameters, properties, emissions[None], optimizer=optax.adam(1e-2), num_epochs=3
    )
    dice = CategoricalHMM(2, 1, 6)
    of_dice, _ = dice.initialize(jax.random.key(2))
    _, rolls = dice.sample(of_dice, jax.random.key(3), num_timesteps=40)
    return {
        "states": states[:10],
        "smoothed": result[0][10],
        "path": result[1][:10],
        "losses": losses,
        "means": learnt.emissions.means,
        "dice": dice.marginal_log_prob(of_dice, rolls),
    }
