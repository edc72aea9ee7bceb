"""Measure special functions against mpmath, in units in the last place over their whole domains.

    python benchmarks/accuracy.py [--points 60] [NAMES...]

Derivatives are measured by derivative_accuracy.py, beside JAX's.

Without names it writes docs/reference/special_accuracy.md and docs/_static/special_accuracy.svg.
Arguments are drawn from a fixed seed. Results that the type does not hold (overflow, and numbers
below the least normal one) do not count.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mpmath as mp
import numpy as np

import dovetail
from dovetail.scipy import special

DOCS = Path(__file__).parents[1] / "docs"
Exact = Callable[..., Any]
Draw = tuple[str, float, float]


@dataclass
class Case:
    """A function, its exact values, and how its arguments are drawn, in either precision."""

    name: str
    exact: Exact
    draws: tuple[Draw, ...]
    wide: tuple[Draw, ...] = ()  # in double precision, where that differs
    call: Callable[..., Any] | None = None


def _draw(rng: np.random.Generator, how: Draw, n: int) -> Any:
    kind, low, high = how
    if kind == "log":
        return np.exp(rng.uniform(np.log(low), np.log(high), n))
    if kind == "minus":
        return -np.exp(rng.uniform(np.log(low), np.log(high), n))
    values = rng.uniform(low, high, n)
    return np.floor(values) if kind == "whole" else values


def _erfcx(x: Any) -> Any:
    return mp.exp(x * x) * mp.erfc(x) if x < 100 else mp.hyperu(0.5, 0.5, x * x) / mp.sqrt(mp.pi)


def _quantile(p: Any) -> Any:
    x = mp.mpf(0)
    if p < 0.1:
        z = mp.sqrt(-2 * mp.log(p))
        x = -z + mp.log(z * mp.sqrt(2 * mp.pi)) / z
    for _ in range(60):
        q = mp.erfc(-x / mp.sqrt(2)) / 2
        step = (mp.log(q) - mp.log(p)) * q * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
        x -= step
        if abs(step) < mp.mpf(10) ** -35:
            break
    return x


def _log_ndtr(x: Any) -> Any:
    return mp.log(mp.erfc(-x / mp.sqrt(2)) / 2) if x < 5 else mp.log1p(-mp.erfc(x / mp.sqrt(2)) / 2)


def _owens(h: Any, a: Any) -> Any:
    end = min(a, 15 / abs(h))
    value = mp.quad(lambda x: mp.exp(-h * h * x * x / 2) / (1 + x * x), [0, end / 3, end])
    return mp.exp(-h * h / 2) * value / (2 * mp.pi)


def _hurwitz(s: Any, q: Any) -> Any:
    with mp.workprec(200 + 2 * abs(int(s * mp.log(q + 2, 2)))):
        return mp.zeta(s, q)


def _of_orders(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda n, x: f(n.astype(int), x)


_REAL = ("real", -8.0, 8.0)
CASES = [
    Case("beta", mp.beta, (("log", 0.01, 100), ("log", 0.01, 100))),
    Case("betainc", lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
         (("log", 0.1, 100), ("log", 0.1, 100), ("real", 0, 1))),
    Case("boxcox", lambda x, k: (mp.power(x, k) - 1) / k, (("log", 0.01, 100), ("real", -5, 5))),
    Case("comb", mp.binomial, (("whole", 15, 60), ("whole", 0, 15))),
    Case("dawsn", lambda x: x * mp.hyp1f1(1, 1.5, -x * x), (("log", 1e-8, 30),)),
    Case("digamma", mp.digamma, (("log", 1e-8, 1e8),)),
    Case("entr", lambda x: -x * mp.log(x), (("log", 1e-20, 1e10),)),
    Case("erf", mp.erf, (("real", -4, 4),)),
    Case("erfc", mp.erfc, (("real", -4, 9),), (("real", -4, 26),)),
    Case("erfcx", _erfcx, (("log", 1e-6, 1e8),)),
    Case("erfinv", mp.erfinv, (("real", -1, 1),)),
    Case("exp1", mp.e1, (("log", 1e-8, 80),), (("log", 1e-8, 700),)),
    Case("expi", mp.ei, (("log", 1e-8, 85),), (("log", 1e-8, 700),)),
    Case("expit", lambda x: 1 / (1 + mp.exp(-x)), (("real", -80, 40),), (("real", -700, 40),)),
    Case("expn", lambda n, x: mp.expint(int(n), x), (("whole", 0, 30), ("log", 1e-5, 70)),
         call=_of_orders(special.expn)),
    Case("fresnel (C)", mp.fresnelc, (("log", 1e-3, 100),), call=lambda x: special.fresnel(x)[1]),
    Case("fresnel (S)", mp.fresnels, (("log", 1e-3, 100),), call=lambda x: special.fresnel(x)[0]),
    Case("gamma", mp.gamma, (("real", -20, 34),), (("real", -150, 171),)),
    Case("gammainc", lambda a, x: mp.gammainc(a, 0, x, regularized=True),
         (("log", 0.01, 300), ("log", 0.01, 300))),
    Case("gammaincc", lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
         (("log", 0.01, 300), ("log", 0.01, 300))),
    Case("gammaln", mp.loggamma, (("log", 1e-30, 1e30),)),
    Case("hyp1f1", mp.hyp1f1, (("log", 0.1, 10), ("log", 0.1, 10), ("real", -5, 60))),
    Case("hyp2f1", mp.hyp2f1, (("log", 0.1, 5), ("log", 0.1, 5), ("log", 0.1, 5), ("real", 0, 1))),
    Case("i0", lambda x: mp.besseli(0, x), (("real", -85, 85),), (("real", -700, 700),)),
    Case("i0e", lambda x: mp.besseli(0, x) * mp.exp(-x), (("log", 1e-4, 1e4),)),
    Case("i1", lambda x: mp.besseli(1, x), (("real", -85, 85),), (("real", -700, 700),)),
    Case("i1e", lambda x: mp.besseli(1, x) * mp.exp(-x), (("log", 1e-4, 1e4),)),
    Case("kl_div", lambda p, q: p * mp.log(p / q) - p + q, (("log", 0.1, 10), ("log", 0.1, 10))),
    Case("log_ndtr", _log_ndtr, (("real", -100, 12),), (("real", -1000, 37),)),
    Case("logit", lambda p: mp.log(p / (1 - p)), (("real", 0, 1),)),
    Case("ndtr", lambda x: mp.erfc(-x / mp.sqrt(2)) / 2, (("real", -12, 8),), (("real", -37, 8),)),
    Case("ndtri", _quantile, (("log", 1e-37, 1),), (("log", 1e-300, 1),)),
    Case("owens_t", _owens, (("real", 0.01, 8), ("log", 0.01, 3))),
    Case("poch", mp.rf, (("log", 0.01, 30), ("real", -3, 8))),
    Case("polygamma", lambda n, x: mp.polygamma(int(n), x), (("whole", 1, 8), ("log", 0.01, 100)),
         call=_of_orders(special.polygamma)),
    Case("rel_entr", lambda p, q: p * mp.log(p / q), (("log", 0.1, 10), ("log", 0.1, 10))),
    Case("sici (Si)", mp.si, (("log", 1e-5, 1e4),), call=lambda x: special.sici(x)[0]),
    Case("spence", lambda x: mp.re(mp.polylog(2, 1 - x)), (("log", 1e-6, 1e6),)),
    Case("xlog1py", lambda x, y: x * mp.log1p(y), (_REAL, ("real", -0.9, 3))),
    Case("zeta", _hurwitz, (("real", 1, 12), ("log", 0.01, 100))),
]  # fmt: skip


def errors(case: Case, dtype: Any, points: int) -> tuple[list[Any], Any]:
    """The arguments, and the error of each result in units of its last place."""
    rng = np.random.default_rng(0)
    draws = case.wide if case.wide and dtype is np.float64 else case.draws
    args = [_draw(rng, how, points).astype(dtype) for how in draws]
    function = case.call or getattr(special, case.name)
    got = np.asarray(function(*args))
    info, found = np.finfo(dtype), np.full(points, np.nan)
    for i in range(points):
        want = case.exact(*[mp.mpf(float(x[i])) for x in args])
        size = float(abs(want))
        if float(info.tiny) <= size <= float(info.max):
            difference = abs(mp.mpf(float(got[i])) - want) if np.isfinite(got[i]) else mp.inf
            found[i] = float(difference / float(np.spacing(dtype(size))))
    return args, found


def line(case: Case, kind: str, args: list[Any], found: Any) -> str:
    """A line of the table."""
    k = int(np.nanargmax(found))
    at = ", ".join(f"{float(x[k]):.4g}" for x in args)
    middle, most, worst = np.nanmedian(found), np.nanpercentile(found, 99), found[k]
    return f"| `{case.name}` | {kind} | {middle:.2f} | {most:.1f} | {worst:.1f} | {at} |"


def draw_picture(results: dict[str, dict[str, Any]]) -> None:
    """A strip for each function: every error as a dot, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "dovetail", "font.size": 8})
    names = sorted(results, key=lambda n: -np.nanpercentile(results[n]["float64"], 99))
    figure, axes = plt.subplots(figsize=(7.2, 0.19 * len(names) + 1.3))
    for y, name in enumerate(names):
        axes.axhline(y, color="#00000010", linewidth=7)
        for kind, colour, shift in (("float32", "#e8873a", 0.18), ("float64", "#2f6fb0", -0.18)):
            found = np.clip(results[name][kind], 0.02, None)
            low, middle, high, top = np.nanpercentile(found, [5, 50, 99, 100])
            axes.plot([low, high], [y + shift] * 2, color=colour, linewidth=2.2, alpha=0.55,
                      solid_capstyle="round")  # fmt: skip
            axes.plot(
                [middle],
                [y + shift],
                "o",
                color=colour,
                markersize=4,
                label=kind if not y else None,
            )
            axes.plot([top], [y + shift], "|", color=colour, markersize=5)
    axes.axvline(0.5, color="#444", linewidth=0.8, linestyle=":")
    axes.text(0.48, len(names) - 0.1, "correctly rounded", ha="right", color="#444")
    axes.set(xscale="log", xlim=(0.02, 500), ylim=(-0.8, len(names) + 0.8),
             xlabel="error in units in the last place: 5 to 99 %, median, greatest")  # fmt: skip
    axes.set_yticks(range(len(names)), names)
    axes.legend(loc="upper right", frameon=False)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title("Special functions against mpmath", loc="left", fontsize=11)
    figure.tight_layout()
    figure.savefig(DOCS / "_static/special_accuracy.svg", metadata={"Date": None})


PAGE = """# Accuracy of special functions

How far results of `dovetail.scipy.special` are from the exact ones, in units in the last place
(ulps) of the result, over the domains that `benchmarks/accuracy.py` draws arguments from: {points}
for each function and element type, compared with mpmath. 0.5 is a correctly rounded result.
`python benchmarks/accuracy.py` measures again, and writes this page.

![Errors of each function](../_static/special_accuracy.svg)

| function | type | median | 99 % | greatest | where the greatest is |
| --- | --- | --- | --- | --- | --- |
{lines}

Next to zeros that are no simple numbers (of `gammaln` and `digamma` for negative numbers, of Bessel
functions, of the cosine integral beyond 1) errors are small beside the function's size nearby, not
beside the result. Terms of `hyp1f1` and `hyp2f1` cancel for large parameters of opposite signs.
"""


def main() -> None:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--points", type=int, default=60)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    dovetail.config.update("enable_x64", True)
    mp.mp.dps = 48  # type: ignore[assignment]
    results: dict[str, dict[str, Any]] = {}
    lines: list[str] = []
    for case in CASES:
        if options.names and case.name not in options.names:
            continue
        for dtype in (np.float32, np.float64):
            args, found = errors(case, dtype, options.points)
            results.setdefault(case.name, {})[dtype.__name__] = found
            lines.append(line(case, dtype.__name__, args, found))
            print(lines[-1], flush=True)
    if not options.names:
        page = PAGE.format(points=options.points, lines="\n".join(lines))
        (DOCS / "reference/special_accuracy.md").write_text(page)
        draw_picture(results)


if __name__ == "__main__":
    main()
