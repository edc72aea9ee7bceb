"""Distributions against SciPy's in double precision: values, tails, ends, derivatives, types.

Values are mostly those of the NumPy reference backend, which need no time to compile.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from inspect import signature
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.special
import scipy.stats
from reference_backend import FULL

import dovetail_numpy as dnp
from dovetail_ad import grad, jvp
from dovetail_backends import evaluate
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_jit import jit, make_jaxpr
from dovetail_tree.util import tree_structure, tree_unflatten

PARAMETERS: dict[str, list[list[float]]] = {
    "bernoulli": [[0.3, 0.9, 0.01]],
    "beta": [[0.5, 2.0, 30.0, 1500.0, 1.0], [0.7, 3.0, 12.0, 900.0, 5.0]],
    "betabinom": [[5, 20, 30, 1], [0.5, 2, 10, 1], [0.7, 1, 4, 1]],
    "binom": [[5, 20, 1000, 3], [0.3, 0.01, 0.5, 0.2]],
    "cauchy": [],
    "chi2": [[0.5, 2, 11, 200, 400]],
    "expon": [],
    "gamma": [[0.1, 1, 5.5, 40, 150, 2000]],
    "gennorm": [[0.4, 1, 2, 8]],
    "geom": [[0.3, 1e-3, 0.9]],
    "gumbel_l": [],
    "gumbel_r": [],
    "laplace": [],
    "logistic": [],
    "nbinom": [[0.5, 4, 30, 700], [0.3, 0.9, 0.5, 0.4]],
    "norm": [],
    "pareto": [[0.3, 1, 5, 70]],
    "poisson": [[0.1, 3, 40, 60, 2000]],
    "t": [[0.5, 1, 5, 40, 300, 1e4]],
    "truncnorm": [[-1, 0.5, 3, -9, -20, 30], [2, 4, 40, -4, 20, 32]],
    "uniform": [],
    "vonmises": [[0.1, 1, 10, 900]],
    "wrapcauchy": [[0.01, 0.5, 0.99]],
}
BAD: dict[str, list[tuple[float, ...]]] = {
    "bernoulli": [(-0.1,), (1.1,)],
    "beta": [(0, 1), (1, -1)],
    "betabinom": [(-1, 1, 1), (2.5, 1, 1), (2, 0, 1), (2, 1, -1)],
    "binom": [(-1, 0.5), (2.5, 0.5), (2, -0.1), (2, 1.1)],
    "chi2": [(0,), (-1,)],
    "gamma": [(0,), (-1,), (np.nan,)],
    "gennorm": [(0,), (-1,)],
    "geom": [(0,), (1.1,)],
    "nbinom": [(0, 0.5), (2, 0), (2, 1.1)],
    "pareto": [(0,), (-1,)],
    "poisson": [(-1,)],
    "t": [(0,), (-1,)],
    "truncnorm": [(2, 1), (1, 1)],
    "vonmises": [(-1,)],
    "wrapcauchy": [(0,), (1,)],
}
ALL = pytest.mark.parametrize("name", PARAMETERS)
INVERSES = ("ppf", "isf")
DISCRETE = ("bernoulli", "betabinom", "binom", "geom", "nbinom", "poisson")


def module(name: str) -> Any:
    return import_module(f"dovetail_scipy.stats.{name}")


def kinds(name: str) -> tuple[list[str], list[str]]:
    """Functions of points, and functions of probabilities."""
    own = [k for k in module(name).__all__ if k != "entropy"]
    return [k for k in own if k not in INVERSES], [k for k in own if k in INVERSES]


def run(f: Any, *args: Any) -> Any:
    """The result of ``f`` by the reference backend."""
    program, shapes = make_jaxpr(f, return_shape=True)(*args)
    with np.errstate(all="ignore"):
        return tree_unflatten(tree_structure(shapes), evaluate(program, *args))


def functions(name: str, which: tuple[str, ...]) -> Any:
    own = {kind: getattr(module(name), kind) for kind in which}
    return lambda *args: {kind: f(*args) for kind, f in own.items()}


def parameters(name: str) -> list[Any]:
    return [np.asarray(s, float)[:, None] for s in PARAMETERS[name]]


@cache
def points(name: str) -> Any:
    """Points within the distribution, and far away."""
    theirs, shapes = getattr(scipy.stats, name), parameters(name)
    middle = theirs.ppf(np.asarray([1e-3, 0.1, 0.3, 0.5, 0.7, 0.95, 0.999]), *shapes)
    spread = theirs.ppf(0.9, *shapes) - theirs.ppf(0.1, *shapes)
    far = np.asarray([-30, -8, -3, 3, 8, 30]) * np.maximum(spread, 1e-3) + theirs.ppf(0.5, *shapes)
    fixed = np.broadcast_to([0, 1, -1, 2.5, np.nan], (*middle.shape[:-1], 5))
    result = np.concatenate([middle, far, fixed], -1)
    return np.where(result == 2.5, result, np.floor(result)) if name in DISCRETE else result


Q = np.asarray([0, 1e-20, 1e-6, 0.11, 0.31, 0.5, 0.75, 0.999, 1, -1, 2, np.nan])


def von_mises(x: Any, kappa: Any) -> tuple[Any, Any]:
    """Both probabilities, by quadrature: SciPy's are approximate for kappa > 50, and in tails."""
    x, kappa = np.broadcast_arrays(x, kappa)
    turns = np.round(x / (2 * np.pi))
    angle = x - 2 * np.pi * turns
    nodes, weights = np.polynomial.legendre.leggauss(20)
    edges = np.linspace(-np.pi, -np.abs(angle), 400)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges, axis=0) / 2
    t = middle[..., None] + half[..., None] * nodes
    values = np.exp(-2 * kappa[..., None] * np.sin(0.5 * t) ** 2) @ weights
    tail = np.sum(values * half, 0) / (2 * np.pi * scipy.special.i0e(kappa))
    p, q = np.where(angle > 0, 1 - tail, tail), np.where(angle > 0, tail, 1 - tail)
    return p + turns, q - turns


def wanted(name: str, kind: str, args: Any) -> Any:
    """SciPy's values; of logarithms of probabilities, what the smaller one of both says."""
    theirs = getattr(scipy.stats, name)
    with np.errstate(all="ignore"):
        if kind == "isf" and name == "truncnorm":  # SciPy's has no digits in small tails
            q, a, b = args
            return -theirs.ppf(q, -b, -a)
        if name == "vonmises" and kind in ("cdf", "sf"):
            return von_mises(*args)[kind == "sf"]
        if kind not in ("logcdf", "logsf"):
            return getattr(theirs, kind)(*args)
        p, other = von_mises(*args) if name == "vonmises" else (theirs.cdf(*args), theirs.sf(*args))
        p, other = (p, other) if kind == "logcdf" else (other, p)
        return np.where(p < 0.5, np.log(p), np.log1p(-other))


@ALL
@pytest.mark.parametrize("x64", [True, False], ids=["float64", "float32"])
def test_values(name: str, x64: bool) -> None:
    dtype = np.float64 if x64 else np.float32
    shapes = [s.astype(dtype) for s in parameters(name)]
    for which, x in zip(kinds(name), (points(name), Q)):
        if not which:
            continue
        args = [x.astype(dtype), *shapes]
        with enable_x64(x64):
            result = run(functions(name, tuple(which)), *args)
        for kind in which:
            want = wanted(name, kind, [a.astype(float) for a in args])
            own = np.asarray(result[kind], float)
            if name in DISCRETE and kind in INVERSES:
                check_counts(name, kind, own, args, want)
                continue
            deep = np.isneginf(want) & np.isfinite(own)  # SciPy's probability underflows
            assert np.all(own[deep] < -700)
            big = np.abs(want) > np.finfo(dtype).max
            want = np.where(big, np.copysign(np.inf, want), want)
            tiny = 1e-300 if x64 else 1e-36
            rtol = 1e-9 if x64 else SINGLE.get(name, 2e-5)
            np.testing.assert_allclose(
                own[~deep], want[~deep], rtol=rtol, atol=tiny, err_msg=f"{name}.{kind}"
            )


def check_counts(name: str, kind: str, own: Any, args: Any, want: Any) -> None:
    """The count reaches the probability, the one before it does not; SciPy's at the ends."""
    q, *shapes = (np.asarray(a, float) for a in np.broadcast_arrays(*args))
    theirs, eps = getattr(scipy.stats, name), float(np.finfo(args[0].dtype).eps)
    edge = ~((q > 0) & (q < 1))
    ends = np.maximum(want, 0) if name == "bernoulli" else want  # as JAX has it
    np.testing.assert_array_equal(own[edge], ends[edge])
    k, q, shapes = own[~edge], q[~edge], [s[~edge] for s in shapes]
    slack = q * 300 * eps  # float32's distribution functions of large parameters
    if kind == "ppf":
        assert np.all(theirs.cdf(k, *shapes) >= q - slack)
        assert np.all((theirs.cdf(k - 1, *shapes) < q + slack) | (k == np.min(k)))
    else:
        assert np.all(theirs.sf(k, *shapes) <= q + slack)
        assert np.all((theirs.sf(k - 1, *shapes) > q - slack) | (k == np.min(k)))


# Near an end of a truncated distribution a small difference of logarithms counts; the incomplete
# beta function has fewer digits where one parameter is large and the other small.
SINGLE = {"truncnorm": 3e-4, "t": 1e-3, "nbinom": 1e-4}


@ALL
def test_beside_the_support_and_of_no_distribution(name: str) -> None:
    """At infinity a density is 0, a distribution function 0 or 1; bad parameters give nan."""
    which, inverses = kinds(name)
    good = [float(s[0, 0]) for s in parameters(name)]
    x = np.float32([-np.inf, np.inf])
    density = [0, 0]
    limits: dict[str, Any] = {"cdf": [0, 1], "sf": [1, 0], "logcdf": [-np.inf, 0]}
    limits |= {"logsf": [0, -np.inf], "pdf": density, "pmf": density}
    limits |= {"logpdf": [-np.inf] * 2, "logpmf": [-np.inf] * 2}
    bad = np.float32(BAD.get(name, np.zeros((0, len(good)))))
    rows = np.concatenate([np.float32([good]), bad]).T[..., None]
    result = run(functions(name, tuple(which)), np.float32([*x, 1.0]), *rows)
    for kind in which:
        values = np.reshape(result[kind], (-1, 3))
        np.testing.assert_array_equal(values[0, :2], limits[kind])
        assert np.all(np.isnan(values[1:]))
    if inverses and len(bad):
        result = run(functions(name, tuple(inverses)), np.float32(0.5), *rows)
        assert all(np.all(np.isnan(np.ravel(result[kind])[1:])) for kind in inverses)


@pytest.mark.parametrize("name", ["norm", "pareto", "poisson", "uniform", "wrapcauchy", "cauchy"])
def test_location_and_scale(name: str) -> None:
    shapes = parameters(name)
    for which, x in zip(kinds(name), (points(name), Q)):
        for kind in which:
            f = getattr(module(name), kind)
            if kind == "isf" and name in DISCRETE:
                x = np.where(Q < 1e-3, -1.0, Q)  # where SciPy's has digits
            names = [n for n in ("loc", "scale") if n in signature(f).parameters]
            moved = {n: v for n, v in {"loc": 2.0, "scale": 4.0}.items() if n in names}
            at = x if kind in INVERSES else x * moved.get("scale", 1) + moved.get("loc", 0)
            with enable_x64(True), np.errstate(all="ignore"):
                result = run(lambda *args: f(*args, **moved), at, *shapes)  # noqa: B023
                want = getattr(getattr(scipy.stats, name), kind)(at, *shapes, **moved)
                deep = np.isneginf(want) & np.isfinite(result)  # SciPy's probability underflows
                assert np.all(result[deep] < -700)
                np.testing.assert_allclose(
                    result[~deep], want[~deep], rtol=1e-7, atol=1e-16, err_msg=kind
                )
                if "scale" in moved:
                    for scale in (-1.0, 0):
                        bad = run(lambda *args: f(*args, scale=scale), at, *shapes)  # noqa: B023
                        assert np.all(np.isnan(bad))


STEP = 1e-5


def inner_points(name: str) -> list[Any]:
    """Points inside of the support and parameters beside which there are others."""
    theirs, shapes = getattr(scipy.stats, name), parameters(name)
    shapes = [s[:4] * (1 if name in DISCRETE else 1.03) for s in shapes]
    return [theirs.ppf(np.asarray([0.1, 0.4, 0.8]), *shapes), *shapes]


@ALL
def test_derivatives(name: str) -> None:
    """In every argument but counts, against central differences of the function itself."""
    which, inverses = kinds(name)
    args = list(np.broadcast_arrays(*inner_points(name)))
    whole = {"binom": (0, 1), "betabinom": (0, 1)}.get(name, (0,) if name in DISCRETE else ())
    if name == "truncnorm":  # far in a tail everything is steep
        args = [a[:3] for a in args]
    moving = [i for i in range(len(args)) if i not in whole]

    def both(f: Any) -> None:
        one = np.eye(len(args))[moving]  # a direction for each, along a leading axis
        basis = [
            np.broadcast_to(one[:, i].reshape(-1, *[1] * a.ndim), (len(one), *a.shape))
            for i, a in enumerate(args)
        ]
        points_of_args = [np.broadcast_to(a, b.shape) for a, b in zip(args, basis)]
        steps = [STEP * np.where(a == 0, 1, np.abs(a)) for a in args]
        ends = [np.stack([p + b * h, p - b * h]) for p, b, h in zip(points_of_args, basis, steps)]
        slopes = run(lambda *at: jvp(f, at, tuple(basis))[1], *points_of_args)
        values = run(f, *ends)
        for kind, slope in slopes.items():
            for i, result, above, below in zip(moving, slope, *values[kind]):
                with np.errstate(invalid="ignore"):  # minus infinity, constantly
                    want = np.nan_to_num((above - below) / (2 * steps[i]))
                scale = np.max(np.abs(want)) + 1e-3
                np.testing.assert_allclose(
                    result, want, rtol=2e-4, atol=2e-6 * scale, err_msg=f"{kind}, {i}"
                )

    with enable_x64(True):
        both(functions(name, tuple(which)))
        if inverses and name != "bernoulli":
            args[0] = np.broadcast_to([0.13, 0.43, 0.81], args[0].shape)
            both(functions(name, tuple(inverses)))


@pytest.mark.parametrize("name", ["expon", "gamma", "beta", "truncnorm", "uniform", "pareto"])
def test_derivatives_outside_of_the_support_are_0(name: str) -> None:
    m, shapes = module(name), [float(s[1, 0]) for s in parameters(name)]
    for kind in ("logpdf", "pdf", "cdf", "sf"):
        slope = grad(getattr(m, kind), tuple(range(1 + len(shapes))))
        result = run(slope, np.float32(-50.0), *map(np.float32, shapes))
        np.testing.assert_array_equal(result, np.zeros(len(result)))


@pytest.mark.parametrize("name", ["norm", "cauchy", "geom", "pareto", "logistic"])
def test_compiled(name: str) -> None:
    """Under jit, and (one distribution's) eagerly, results are those of the reference."""
    shapes = [s.astype(np.float32) for s in parameters(name)]
    for which, x in zip(kinds(name), (points(name), Q)):
        f = functions(name, tuple(which))
        args = [x.astype(np.float32), *shapes]
        want = run(f, *args)
        ways = (jit(f), f) if name == "norm" or FULL else (jit(f),)
        for result in (way(*args) for way in ways):
            for kind in which:
                np.testing.assert_allclose(result[kind], want[kind], rtol=2e-5, atol=1e-37)


@pytest.mark.parametrize("name", ["norm", "gamma", "poisson", "truncnorm"])
def test_reverse_mode_and_vmap(name: str) -> None:
    m, args = module(name), inner_points(name)
    kind = "logpmf" if name in DISCRETE else "logpdf"
    f = getattr(m, kind)
    with enable_x64(True):
        total = run(grad(lambda *a: dnp.sum(f(*a)), len(args) - 1), *args)
        flat = [np.broadcast_to(a, args[0].shape).ravel() for a in args]
        each = run(vmap(grad(f, len(args) - 1)), *flat)
    each = np.sum(np.reshape(each, args[0].shape), -1) if len(args) > 1 else each
    np.testing.assert_allclose(np.ravel(total), np.ravel(each), rtol=1e-12)


FAR: list[tuple[str, str, tuple[float, ...], float]] = [  # mpmath's, of 60 digits
    ("gamma", "logsf", (900.0, 2.5), -890.07942452229523),
    ("gamma", "logsf", (1500.0, 100.0), -1135.0571585668309),
    ("gamma", "logsf", (10000.0, 2000.0), -4787.2300571310793),
    ("gamma", "logcdf", (0.001, 200.0), -2244.7840380136963),
    ("gamma", "logcdf", (500.0, 2000.0), -1277.0206935481177),
    ("chi2", "logsf", (3000.0, 5.0), -1489.313852456615),
    ("poisson", "logcdf", (3.0, 1000.0), -981.06549213528388),
    ("poisson", "logsf", (1000.0, 10.0), -3624.1392251073903),
    ("beta", "logcdf", (0.0001, 100.0, 3.0), -912.48728907765731),
    ("beta", "logsf", (0.999, 3.0, 200.0), -1371.6346214119853),
    ("binom", "logcdf", (10.0, 2000.0, 0.5), -1325.4072521068735),
    ("binom", "logsf", (1990.0, 2000.0, 0.5), -1330.7015660041906),
    ("nbinom", "logsf", (9000.0, 4.0, 0.5), -6215.572700563214),
    ("t", "logsf", (10000000000.0, 40.0), -850.02607572504688),
    ("t", "logcdf", (-1000.0, 200.0), -855.30856535325614),
    ("norm", "logsf", (50.0,), -1254.8313611394199),
    ("norm", "logcdf", (-1000.0,), -500007.82669481218),
    ("gennorm", "logsf", (1000.0, 1.5), -31627.226787319529),
    ("truncnorm", "logpdf", (60.0, 50.0, 70.0), -546.08757739378477),
    ("truncnorm", "logsf", (60.0, 50.0, 70.0), -550.18219954114724),
    ("gumbel_r", "logsf", (800.0,), -800.0),
    ("cauchy", "logcdf", (-1e200,), -461.66174848465854),
    ("expon", "logcdf", (1e-320,), -736.82724089097391),
    ("geom", "logcdf", (1.0, 1e-18), -41.446531673892822),
    ("poisson", "logpmf", (100000000.0, 100000000.0), -10.129278906014189),
    ("gamma", "logpdf", (1000000.0, 1000000.0), -7.8266938955201431),
    ("beta", "logpdf", (0.5, 1000000.0, 1000000.0), 7.0285373916173823),
    ("binom", "logpmf", (5000000.0, 10000000.0, 0.5), -8.2848392031238873),
]


def test_far_away() -> None:
    """Points at which probabilities underflow, or large terms cancel."""
    result = {}
    with enable_x64(True):
        for name, kind, args, _ in FAR:
            result[name, kind, args] = run(getattr(module(name), kind), *map(np.float64, args))
    for name, kind, args, want in FAR:
        message = f"{name}.{kind}{args}"
        np.testing.assert_allclose(result[name, kind, args], want, rtol=2e-12, err_msg=message)


def test_entropy_of_poisson() -> None:
    mean = np.asarray([0, 1e-3, 0.5, 3, 20, 49, 51, 300])
    k = np.arange(1000)[:, None]
    p = scipy.stats.poisson.pmf(k, mean)
    want = -np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1)), 0), 0)
    with enable_x64(True):
        entropy = module("poisson").entropy
        np.testing.assert_allclose(run(entropy, mean), want, rtol=1e-9, atol=1e-300)
        slope = run(grad(entropy), 3.0)
        ends = run(entropy, np.asarray([3.0 + 1e-6, 3.0 - 1e-6]))
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, rtol=1e-7)
    result = entropy(np.float32(mean), 2.0)
    np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-30)
    assert np.isnan(run(entropy, -1.0))


SIGNATURES = {
    "bernoulli": {"logpmf pmf": "k, p, loc=0", "cdf": "k, p", "ppf": "q, p"},
    "beta": {"cdf logcdf logpdf logsf pdf sf": "x, a, b, loc=0, scale=1"},
    "betabinom": {"logpmf pmf": "k, n, a, b, loc=0"},
    "binom": {"logpmf pmf": "k, n, p, loc=0"},
    "cauchy": {
        "cdf logcdf logpdf logsf pdf sf": "x, loc=0, scale=1",
        "isf ppf": "q, loc=0, scale=1",
    },
    "chi2": {"cdf logcdf logpdf logsf pdf sf": "x, df, loc=0, scale=1"},
    "dirichlet": {"logpdf pdf": "x, alpha"},
    "expon": {"cdf logcdf logpdf logsf pdf sf": "x, loc=0, scale=1", "ppf": "q, loc=0, scale=1"},
    "gamma": {"cdf logcdf logpdf logsf pdf sf": "x, a, loc=0, scale=1"},
    "gennorm": {"cdf logpdf pdf": "x, beta"},
    "geom": {"logpmf pmf": "k, p, loc=0"},
    "gumbel_l": {"cdf logcdf logpdf logsf pdf sf": "x, loc=0, scale=1", "ppf": "p, loc=0, scale=1"},
    "gumbel_r": {"cdf logcdf logpdf logsf pdf sf": "x, loc=0, scale=1", "ppf": "p, loc=0, scale=1"},
    "laplace": {"cdf logpdf pdf": "x, loc=0, scale=1"},
    "logistic": {"cdf isf logpdf pdf ppf sf": "x, loc=0, scale=1"},
    "multinomial": {"logpmf pmf": "x, n, p"},
    "multivariate_normal": {"logpdf": "x, mean, cov, allow_singular=None", "pdf": "x, mean, cov"},
    "nbinom": {"logpmf pmf": "k, n, p, loc=0"},
    "norm": {"cdf logcdf logpdf logsf pdf sf": "x, loc=0, scale=1", "isf ppf": "q, loc=0, scale=1"},
    "pareto": {
        "cdf logcdf logpdf logsf pdf sf": "x, b, loc=0, scale=1",
        "ppf": "q, b, loc=0, scale=1",
    },
    "poisson": {"cdf logpmf pmf": "k, mu, loc=0", "entropy": "mu, loc=0"},
    "t": {"logpdf pdf": "x, df, loc=0, scale=1"},
    "truncnorm": {"cdf logcdf logpdf logsf pdf sf": "x, a, b, loc=0, scale=1"},
    "uniform": {"cdf logpdf pdf": "x, loc=0, scale=1", "ppf": "q, loc=0, scale=1"},
    "vonmises": {"logpdf pdf": "x, kappa"},
    "wrapcauchy": {"logpdf pdf": "x, c"},
}


@pytest.mark.parametrize("name", SIGNATURES)
def test_arguments_are_those_of_jax(name: str) -> None:
    for which, want in SIGNATURES[name].items():
        for kind in which.split():
            f = getattr(module(name), kind)
            shown = [
                f"{p.name}" + ("" if p.default is p.empty else f"={p.default}")
                for p in signature(f).parameters.values()
            ]
            assert ", ".join(shown) == want and f.__doc__ and f.__name__ == kind


def test_types() -> None:
    norm, poisson = module("norm"), module("poisson")
    for dtype in (np.float16, ml_dtypes.bfloat16, np.float32):
        assert norm.logpdf(dtype(1)).dtype == dtype
        np.testing.assert_allclose(float(norm.cdf(dtype(0.5))), 0.6914625, rtol=4e-3)
        assert run(poisson.pmf, np.arange(3), dtype(2)).dtype == dtype
    assert norm.pdf(np.arange(3)).dtype == np.float32 and norm.pdf(True).dtype == np.float32
    assert norm.pdf(1.0).aval.weak_type and norm.pdf(1).dtype == np.float32
    assert norm.pdf(np.float32(1), np.float16(2)).dtype == np.float32
    assert norm.pdf(np.ones((2, 1), np.float32), np.ones(3, np.float32)).shape == (2, 3)
    assert norm.ppf(np.ones(0, np.float32)).shape == (0,)
    with enable_x64(True):
        assert (
            norm.pdf(np.ones(2)).dtype == np.float64 and norm.pdf(np.arange(2)).dtype == np.float64
        )


def test_named_arguments() -> None:
    beta = module("beta")
    want = scipy.stats.beta.pdf(2.3, 2, 3, 2, 4)
    result = run(lambda x: beta.pdf(x, b=3, a=2, scale=4, loc=2), 2.3)
    np.testing.assert_allclose(result, want, rtol=1e-6)
    np.testing.assert_allclose(
        run(lambda p: module("gumbel_r").ppf(p=p), 0.5), 0.36651292, rtol=1e-6
    )
    np.testing.assert_allclose(
        run(lambda x: module("logistic").ppf(x=x), 0.75), np.log(3), rtol=1e-6
    )


WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "missing": (lambda m: m("gamma").pdf(1.0), TypeError, "gamma() missing 1 required positional"),
    "unknown": (lambda m: m("t").pdf(1.0, dg=2), TypeError, "unexpected keyword argument 'dg'"),
    "None": (lambda m: m("norm").pdf(None), TypeError, "norm.pdf requires an array or a scalar"),
    "complex": (lambda m: m("norm").cdf(1j), TypeError, "norm.cdf takes real numbers, got complex"),
    "shapes": (lambda m: m("beta").sf(np.ones(2), np.ones(3), 1), ValueError, "beta.sf got shapes"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name: str) -> None:
    call, kind, text = WRONG[name]
    with pytest.raises(kind) as e:
        call(module)
    assert text in str(e.value)
    assert name in ("missing", "unknown") or "test_stats.py" in str(e.value)


def test_quantiles_under_transformations() -> None:
    """Reverse mode of a search, types and empties, and second derivatives of an iteration."""
    gamma, poisson = module("gamma"), module("poisson")
    slopes = run(grad(poisson.ppf, (0, 1, 2)), *np.float32([0.3, 4, 1]))
    np.testing.assert_array_equal(slopes, [0, 0, 1])
    assert run(poisson.ppf, 0.5, 3) == 3 and run(poisson.ppf, 0.5, 3).dtype == np.float32
    assert run(poisson.ppf, np.zeros(0, np.float16), np.float16(3)).shape == (0,)
    with enable_x64(True):
        a, h = np.asarray([2.5, 2.5 + 1e-4, 2.5 - 1e-4]), 2e-4
        first = run(vmap(grad(lambda a: gamma.ppf(0.3, a))), a)
        second = run(grad(grad(lambda a: gamma.ppf(0.3, a))), np.float64(2.5))
    np.testing.assert_allclose(second, (first[1] - first[2]) / h, rtol=1e-6)
