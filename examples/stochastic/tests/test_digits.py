"""Digits that are said to be right are: compared with exact arithmetic on the same data."""

from __future__ import annotations

import decimal
from fractions import Fraction

import numpy as np
import pytest
from acme_stochastic import samples, significant_digits

import dovetail
from dovetail import jit, lax, numpy as dnp, random, vmap

f32, f64 = np.float32, np.float64
KEY = random.key(0)


def right_digits(found, exact):
    """How many digits a result has in common with the exact one."""
    found, exact = np.asarray(found, f64), np.asarray(exact, f64)
    error = np.abs(found - exact) / np.maximum(np.abs(found), 1e-300)
    return -np.log10(np.maximum(error, 1e-20))


def check(said, found, exact, most=7.0, slack=2.0):
    """What is said holds of nearly all, and is not much less than what one has."""
    have = np.clip(right_digits(found, exact), 0, most)
    said = np.asarray(said)
    assert np.mean(said <= have + 0.01) >= 0.95, f"said {said}, has {have}"
    assert np.mean(have - said) < slack, f"said {said}, has {have}"


def test_a_cancellation():
    f = lambda x: (1 + x) - 1  # noqa: E731
    x = np.logspace(-8, 1, 200).astype(f32)
    said = jit(vmap(significant_digits(f), in_axes=(0, None)))(x, KEY)
    check(said, (f32(1) + x) - f32(1), x.astype(f64))
    assert np.all(said[:20] == 0) and np.all(said[-20:] > 5.5)


def test_the_quadratic_formula_and_a_better_one():
    def textbook(b, c):
        return (-b + dnp.sqrt(b * b - 4 * c)) / 2

    def better(b, c):
        return -2 * c / (b + dnp.sqrt(b * b - 4 * c))

    rng = np.random.default_rng(0)
    b, c = (10 ** rng.uniform(0, 3, (2, 100))).astype(f32)
    b = (b + 2.1 * np.sqrt(c)).astype(f32)
    decimal.getcontext().prec = 40
    exact = [
        float((-x + (x * x - 4 * y).sqrt()) / 2)
        for x, y in zip(map(decimal.Decimal, map(float, b)), map(decimal.Decimal, map(float, c)))
    ]
    both = {}
    for f in (textbook, better):
        both[f] = np.asarray(jit(vmap(significant_digits(f), in_axes=(0, 0, None)))(b, c, KEY))
        check(both[f], vmap(f)(b, c), exact)
    assert np.min(both[textbook]) < 3 and np.min(both[better]) > 5


def rump(a, b, p=333.75, q=5.5):
    b2, b4 = b * b, b * b * b * b
    b6, b8 = b4 * b2, b4 * b4
    return p * b6 + a * a * (11 * a * a * b2 - b6 - 121 * b4 - 2) + q * b8 + a / (2 * b)


def test_rumps_polynomial():
    """It is -0.827…; every precision finds something else, and no digit of that is right."""
    exact = rump(*map(Fraction, (77617, 33096, 333.75, 5.5)))
    assert round(float(exact), 6) == -0.827396
    assert abs(float(rump(f32(77617), f32(33096)))) > 1e20
    assert significant_digits(rump)(f32(77617), f32(33096), KEY) == 0
    with dovetail.enable_x64():
        assert significant_digits(rump)(77617.0, 33096.0, KEY) == 0
        # Elsewhere nothing cancels.
        assert significant_digits(rump)(3.0, 2.0, KEY) > 13


def muller(start, n=24):
    def step(carry, _):
        x, y = carry
        z = 111 - 1130 / y + 3000 / (x * y)
        return (y, z), z

    return lax.scan(step, start, None, length=n)[1]


def exact_muller(x, y, n=24):
    x, y, found = Fraction(float(x)), Fraction(float(y)), []
    for _ in range(n):
        x, y = y, 111 - 1130 / y + 3000 / (x * y)
        found.append(float(y))
    return found


@pytest.mark.parametrize("wide", [False, True])
def test_mullers_recurrence(wide):
    """It goes to 6 for 11/2 and 61/11, which no machine computes; to 100 for all other data."""
    with dovetail.enable_x64(wide):
        kind = f64 if wide else f32
        start = kind(5.5), kind(61) / kind(11)
        found, said = muller(start), np.asarray(jit(significant_digits(muller))(start, KEY))
    exact = exact_muller(*start)
    have = np.clip(right_digits(found, exact), 0, None)
    assert np.all(said <= have + 0.01) and np.min(said) == 0 and said[0] > 5


def test_mullers_recurrence_from_integers():
    """Here 61/11 is computed, and rounded: on the way to 6 all digits are lost. That the machines
    agree on 100 in the end is what they cannot see."""
    f = lambda a, b: muller((a / 2, b / 11))  # noqa: E731
    found, said = f(f32(11), f32(61)), np.asarray(jit(significant_digits(f))(f32(11), f32(61), KEY))
    exact, x, y = [], Fraction(11, 2), Fraction(61, 11)
    for _ in range(24):
        x, y = y, 111 - 1130 / y + 3000 / (x * y)
        exact.append(float(y))
    lost = int(np.argmin(said))
    check(said[:lost], found[:lost], exact[:lost], slack=2.5)
    assert said[lost] == 0 and abs(exact[-1] - 6) < 0.1 and said[-1] > 6


def test_a_variance_in_one_pass_and_in_two():
    x = (1000 + np.random.default_rng(0).normal(size=1000)).astype(f32)
    exact = np.var(x.astype(f64))
    one = lambda x: dnp.mean(x * x) - dnp.mean(x) ** 2  # noqa: E731
    two = lambda x: dnp.mean((x - dnp.mean(x)) ** 2)  # noqa: E731
    said = [float(jit(significant_digits(f))(x, KEY)) for f in (one, two)]
    assert said[0] < 1 and said[1] > 5
    for f, n in zip((one, two), said):
        assert n <= right_digits(f(x), exact)


def test_a_linear_system():
    """Hilbert matrices lose a digit and a half with each row."""
    for n in (2, 3, 4, 5):
        matrix = (1 / (np.arange(n)[:, None] + np.arange(n) + 1)).astype(f32)
        b = np.ones(n, f32)
        exact = _solved([[Fraction(float(x)) for x in row] for row in matrix])
        found = dnp.linalg.solve(matrix, b)
        said = np.asarray(jit(significant_digits(dnp.linalg.solve))(matrix, b, KEY))
        assert np.all(said <= right_digits(found, exact)), n
        assert np.all(np.abs(said - (6.5 - 1.3 * (n - 1))) < 1.3), n


def _solved(rows):
    """The solution for a right-hand side of ones, by elimination of fractions."""
    rows = [[*row, Fraction(1)] for row in rows]
    for i, pivot in enumerate(rows):
        pivot[:] = [x / pivot[i] for x in pivot]
        for j, row in enumerate(rows):
            if j != i:
                row[:] = [x - row[i] * y for x, y in zip(row, pivot)]
    return [float(row[-1]) for row in rows]


def test_exact_results_have_all_digits():
    digits = significant_digits(lambda x, n: {"m": dnp.maximum(x, 1.0), "n": n + 1, "p": x > 0})
    found = digits(f32(2), 3, KEY)
    assert found["m"] == pytest.approx(-np.log10(2.0**-23))
    assert np.isinf(found["n"]) and np.isinf(found["p"])


def test_an_uncertain_decision_has_no_digits():
    found = significant_digits(lambda x: ((1 + x) - 1 > x, dnp.floor((x / 3) * 3)))(f32(1e-3), KEY)
    assert found[0] == 0
    assert significant_digits(lambda x: dnp.floor(x / 3 * 3 + x))(f32(1.5), KEY) < 1


def test_no_digits_of_what_is_no_number():
    found = significant_digits(lambda x: (x / 0, 0 * (x / 0)))(dnp.float32(1), KEY)
    assert found == (0, 0)


def test_a_higher_probability_costs_digits():
    f = lambda x: dnp.sin(x) * x  # noqa: E731
    usual, sure = (significant_digits(f, probability=p)(f32(1.3), KEY) for p in (0.95, 0.9999))
    assert 0.2 < usual - sure < 0.4


def test_samples_have_the_structure_of_the_result():
    found = samples(lambda x: (x, [x * x]), 5)(np.ones(3, f32), KEY)
    assert found[0].shape == found[1][0].shape == (5, 3)


def test_a_key_is_needed():
    with pytest.raises(TypeError) as e:
        significant_digits(dnp.sin)(f32(1))
    text = str(e.value)
    assert text.startswith("the samples of sin at ") and "test_digits.py" in text
    assert text.endswith(
        "take a random key as last argument, got float32. dovetail.random.key(0) makes one."
    )
