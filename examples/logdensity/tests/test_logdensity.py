"""Densities compared to sums of scipy.stats, under transformations and control flow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from acme_logdensity import (
    Bernoulli,
    Gamma,
    Normal,
    condition,
    log_density,
    observe,
    sample,
    simulate,
)
from scipy import stats

import dovetail
from dovetail import lax, numpy as dnp, random

f32 = np.float32
XS = np.linspace(0, 1, 4).astype(f32)
YS = np.array([0.5, 0.9, 1.2, 2.0], f32)
KEY = random.key(0)


def regression(xs):
    w = sample(Normal(0.0, 1.0), name="w")
    b = sample(Normal(dnp.zeros(2), 2.0), name="b")
    precision = sample(Gamma(2.0, 0.5), name="precision")
    observe(Normal(w * xs + b[0], 1 / dnp.sqrt(precision)), YS)
    return w


def regression_by_hand(v, xs):
    w, b, precision = (np.asarray(v[n], np.float64) for n in ("w", "b", "precision"))
    prior = stats.norm.logpdf(w) + stats.norm.logpdf(b, 0, 2).sum()
    prior += stats.gamma.logpdf(precision, 2, scale=2)
    return prior + stats.norm.logpdf(YS, w * xs + b[0], 1 / np.sqrt(precision)).sum()


def walk(start, ys, reverse=False):
    def step(z, y):
        z = sample(Normal(z, 1.0), name="z")

        def jump():
            return sample(Bernoulli(0.3), name="jump").astype(f32)

        moved = z + lax.cond(z > 0, jump, lambda: f32(0.0))
        observe(Normal(moved, 0.5), y)
        return z, moved

    return lax.scan(step, start, ys, reverse=reverse)[1]


def walk_by_hand(v, start, ys, reverse=False):
    z, jump = np.asarray(v["z"], np.float64), np.asarray(v["jump"])
    before = np.append(z[1:], start) if reverse else np.append(start, z[:-1])
    total = stats.norm.logpdf(z, before, 1).sum()
    total += stats.norm.logpdf(ys, z + np.where(z > 0, jump, 0), 0.5).sum()
    return total + np.where(z > 0, stats.bernoulli.logpmf(jump, 0.3), 0).sum()


def close(found, wanted, rtol=1e-5):
    np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-4)


VALUES = {"w": f32(0.3), "b": np.array([0.1, -0.2], f32), "precision": f32(1.7)}


@pytest.mark.parametrize("how", [lambda f: f, dovetail.jit])
def test_densities_are_sums(how):
    close(how(log_density(regression))(VALUES, XS), regression_by_hand(VALUES, XS))


@pytest.mark.parametrize("reverse", [False, True])
def test_sites_in_scan_take_stacked_values(reverse):
    def model(start, ys):
        return walk(start, ys, reverse)

    v = simulate(model)(random.key(9), f32(0.5), YS)
    assert v["z"].shape == v["jump"].shape == (4,) and v["jump"].dtype == np.int32
    assert (np.asarray(v["z"]) > 0).any() and (np.asarray(v["z"]) < 0).any()
    found = dovetail.jit(log_density(model))(v, f32(0.5), YS)
    close(found, walk_by_hand(v, 0.5, YS, reverse))


def test_nested_scans():
    def model():
        def outer(c, _):
            return lax.scan(lambda c, _: (sample(Normal(c, 2.0), name="x"), None), c, length=3)

        return lax.scan(outer, f32(0.0), length=2)

    v = simulate(model)(KEY)
    assert v["x"].shape == (2, 3)
    x = np.asarray(v["x"], np.float64).ravel()
    close(log_density(model)(v), stats.norm.logpdf(x, np.append(0, x[:-1]), 2).sum())


def test_score_is_the_slope_of_the_sum():
    score = dovetail.jit(dovetail.grad(log_density(regression)))(VALUES, XS)
    for name, value in VALUES.items():
        for i in np.ndindex(np.shape(value)):
            step = np.zeros(np.shape(value))
            step[i] = 1e-5
            high, low = ({**VALUES, name: value + s} for s in (step, -step))
            slope = (regression_by_hand(high, XS) - regression_by_hand(low, XS)) / 2e-5
            close(np.asarray(score[name])[i], slope, rtol=1e-4)


def test_score_in_scan():
    v = simulate(walk)(random.key(9), f32(0.5), YS)
    z = np.asarray(v["z"], np.float64)
    score = dovetail.grad(lambda z: log_density(walk)({**v, "z": z}, f32(0.5), YS))(v["z"])
    for i in range(4):
        step = 1e-5 * np.eye(4)[i]
        high, low = (walk_by_hand({**v, "z": z + s}, 0.5, YS) for s in (step, -step))
        close(score[i], (high - low) / 2e-5, rtol=1e-3)


def test_chains_are_mapped():
    keys = random.split(KEY, 5)
    many = dovetail.vmap(simulate(walk), (0, None, None))(keys, f32(0.5), YS)
    found = dovetail.jit(dovetail.vmap(log_density(walk), (0, None, None)))(many, f32(0.5), YS)
    one = [{n: x[i] for n, x in many.items()} for i in range(5)]
    close(found, [walk_by_hand(v, 0.5, YS) for v in one])
    close(many["z"][2], simulate(walk)(keys[2], f32(0.5), YS)["z"])


def test_models_may_map_and_compile():
    """What a site has under ``vmap`` is an array of values; a site that is not mapped has one."""

    def model(xs):
        w = sample(Normal(0.0, 1.0), name="w")

        def point(x, y):
            noise = sample(Normal(x, 1.0), name="noise")
            observe(Normal(w + noise, 0.5), y)

        dovetail.jit(dovetail.vmap(point))(xs, YS)

    v = simulate(model)(KEY, XS)
    assert v["w"].shape == () and v["noise"].shape == (4,)
    w, noise = np.asarray(v["w"]), np.asarray(v["noise"])
    wanted = stats.norm.logpdf(w) + stats.norm.logpdf(noise, XS).sum()
    close(log_density(model)(v, XS), wanted + stats.norm.logpdf(YS, w + noise, 0.5).sum())


def test_draws_have_their_distributions():
    def model():
        sample(Normal(dnp.full(2000, 1.0), 2.0), name="normal")
        sample(Gamma(dnp.full(2000, 3.0), 2.0), name="gamma")
        sample(Bernoulli(dnp.full(2000, 0.3)), name="bernoulli")

    v = {n: np.asarray(x) for n, x in dovetail.jit(simulate(model))(KEY).items()}
    assert stats.kstest(v["normal"], stats.norm(1, 2).cdf).pvalue > 0.01
    assert stats.kstest(v["gamma"], stats.gamma(3, scale=0.5).cdf).pvalue > 0.01
    assert abs(v["bernoulli"].mean() - 0.3) < 3 * np.sqrt(0.21 / 2000)


def test_distributions_of_ones_own():
    class Exponential(NamedTuple):
        rate: float

        @staticmethod
        def log_prob(x, rate):
            return dnp.log(rate) - rate * x

        @staticmethod
        def draw(key, shape, rate):
            return random.exponential(key, shape) / rate

    def model():
        return sample(Exponential(dnp.array([1.0, 2.0])), name="t")

    v = simulate(model)(KEY)
    close(log_density(model)(v), stats.expon.logpdf(v["t"], scale=[1, 0.5]).sum())


def test_condition_leaves_the_other_sites():
    some = condition(regression, {"w": f32(0.3)})
    rest = simulate(some)(KEY, XS)
    assert set(rest) == {"b", "precision"}
    both = log_density(regression)({**rest, "w": f32(0.3)}, XS)
    close(log_density(some)(rest, XS), both)


def test_while_loops_can_be_simulated():
    def model():
        def body(state):
            return state[0] + 1, sample(Normal(0.0, 1.0), name="x")

        return lax.while_loop(lambda s: s[0] < 3, body, (0, 0.0))

    v = simulate(model)(KEY)
    assert v["x"].shape == ()
    with pytest.raises(TypeError, match=r"'x' at .* in a loop of unknown length: use scan"):
        log_density(model)(v)


ERRORS = {
    "nothing": (TypeError, "'w' at .* has no value: this function is a model", None),
    "missing": (ValueError, r"'b' at .* is not among the values. Add it", {"w": f32(1)}),
    "unknown": (ValueError, r"no site 'q' .* sites are \['b', 'precision', 'w'\]", {"q": f32(1)}),
    "shape": (ValueError, r"value of 'b' at .* has shape \(3,\); it must be \(2,\)", {"b": XS[:3]}),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(case):
    error, text, values = ERRORS[case]
    with pytest.raises(error, match=text):
        if values is None:
            dovetail.jit(regression)(XS)
        elif case == "missing":
            log_density(regression)(values, XS)
        else:
            log_density(regression)({**VALUES, **values}, XS)


def test_errors_of_stacked_values():
    v = simulate(walk)(KEY, f32(0.5), YS)
    with pytest.raises(ValueError, match=r"'z' .* has shape \(3,\); it must be \(4, \.\.\.\)"):
        log_density(walk)({**v, "z": XS[:3]}, f32(0.5), YS)
    with pytest.raises(ValueError, match=r"'z' .* has shape \(2,\); it must be \(\)"):
        log_density(walk)({**v, "z": np.zeros((4, 2), f32)}, f32(0.5), YS)


def test_a_name_stands_once():
    def model():
        return sample(Normal(0.0, 1.0), name="x"), sample(Normal(0.0, 1.0), name="x")

    with pytest.raises(ValueError, match="'x' is collected a second time"):
        simulate(model)(KEY)
    with pytest.raises(ValueError, match="'x' is collected a second time"):
        log_density(model)({"x": f32(0)})


def test_hamiltonian_chains_recover_a_conjugate_posterior():
    ys = np.linspace(0.2, 1.9, 20).astype(f32)

    def model():
        observe(Normal(sample(Normal(0.0, 1.0), name="w"), 0.5), ys)

    precision = 1 + len(ys) / 0.25
    mean, deviation = ys.sum() / 0.25 / precision, precision**-0.5
    draws = np.asarray(dovetail.jit(dovetail.vmap(hamiltonian(model, "w")))(random.split(KEY, 64)))
    means = draws[:, 20:].mean(axis=1)
    error = means.std() / np.sqrt(len(means))
    assert error < 0.1 * deviation and abs(means.mean() - mean) < error
    close(draws[:, 20:].std(), deviation, rtol=0.05)


def hamiltonian(model, name, steps=120, leaps=6, size=0.05):
    def density(w):
        return log_density(model)({name: w})

    def move(w, key):
        momentum = random.normal(random.fold_in(key, 0))

        def leap(_, state):
            w, p = state
            p = p + size / 2 * dovetail.grad(density)(w)
            w = w + size * p
            return w, p + size / 2 * dovetail.grad(density)(w)

        new, p = lax.fori_loop(0, leaps, leap, (w, momentum))
        gain = density(new) - density(w) + (momentum**2 - p**2) / 2
        w = dnp.where(dnp.log(random.uniform(random.fold_in(key, 1))) < gain, new, w)
        return w, w

    return lambda key: lax.scan(move, f32(0.0), random.split(key, steps))[1]
