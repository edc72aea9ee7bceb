"""Compute the series of Chebyshev polynomials that special functions are evaluated by.

    python tools/special_coefficients.py

Writes plugins/scipy/dovetail_scipy/special/coefficients.py, and for derivatives of Bessel functions
plugins/lax/dovetail_lax/numerics/bessel_coefficients.py. Each entry is a function on an
interval; its coefficients are a discrete cosine transform of values that mpmath computes with 50
digits, and are kept as far as float64 sees them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import mpmath as mp

PLUGINS = Path(__file__).parents[1] / "plugins"
TARGET = PLUGINS / "scipy/dovetail_scipy/special/coefficients.py"
BESSEL_TARGET = PLUGINS / "lax/dovetail_lax/numerics/bessel_coefficients.py"
HEADER = '''"""Coefficients in series of Chebyshev polynomials, by tools/special_coefficients.py."""

# ruff: noqa: E501
# fmt: off
'''
NODES = 80
mp.mp.dps = 50
Function = Callable[[Any], Any]


def halfline(scale: float, f: Function) -> Function:
    """``f`` on x > 0 as a function of t = (x - scale)/(x + scale)."""
    return lambda t: f(scale * (1 + t) / (1 - t))


def ray(start: float, scale: float, f: Function) -> Function:
    """``f`` on x > start as a function of t = (x - start - scale)/(x - start + scale)."""
    return lambda t: f(start + scale * (1 + t) / (1 - t))


def quotient(f: Function, zero: Any) -> Function:
    """``f(x)/(x - zero)``, by its derivative close to the zero."""

    def value(x: Any) -> Any:
        close = abs(x - zero) < mp.mpf(10) ** -20
        return mp.diff(f, zero) if close else f(x) / (x - zero)

    return value


def stirling(s: Any) -> Any:
    """x times what Stirling's formula leaves of log Γ(x), for s = 1/x²."""
    if s < mp.mpf(10) ** -12:
        return mp.mpf(1) / 12 - s / 360
    x = 1 / mp.sqrt(s)
    with mp.workdps(80):
        rest = mp.loggamma(x) - (x - 0.5) * mp.log(x) + x - mp.log(2 * mp.pi) / 2
    return rest * x


def digamma_tail(s: Any) -> Any:
    """(log x - 1/(2x) - ψ(x)) x² for s = 1/x²."""
    if s < mp.mpf(10) ** -12:
        return mp.mpf(1) / 12 - s / 120
    x = 1 / mp.sqrt(s)
    with mp.workdps(80):
        return (mp.log(x) - 1 / (2 * x) - mp.digamma(x)) * x * x


def quantile(z: Any) -> Any:
    """x > 0 with normal tail exp(-z²/2)."""
    log_q = -z * z / 2
    x = z - (mp.log(z) + mp.log(2 * mp.pi) / 2) / z if z > 2.5 else z / 2
    for _ in range(12):
        q = mp.erfc(x / mp.sqrt(2)) / 2
        x += (mp.log(q) - log_q) * q * mp.sqrt(2 * mp.pi) * mp.exp(x * x / 2)
    return x


def erfinv_ratio(s: Any) -> Any:
    """erfinv(y)/y for s = y²."""
    y = mp.sqrt(s)
    return mp.erfinv(y) / y if y > mp.mpf(10) ** -15 else mp.sqrt(mp.pi) / 2


def erf_ratio(s: Any) -> Any:
    """erf(x)/x for s = x²."""
    x = mp.sqrt(s)
    return mp.erf(x) / x if x > mp.mpf(10) ** -20 else 2 / mp.sqrt(mp.pi)


def erfcx(x: Any) -> Any:
    """exp(x²) erfc(x)."""
    if x > 1e3:
        s = 1 / (x * x)
        return (1 - s / 2 + 3 * s * s / 4 - 15 * s**3 / 8 + 105 * s**4 / 16 - 945 * s**5 / 32) / (
            x * mp.sqrt(mp.pi)
        )
    with mp.workdps(60):
        return mp.exp(x * x) * mp.erfc(x)


def dawson(x: Any) -> Any:
    """exp(-x²) ∫ exp(t²), with 1F1, or far out its asymptotic series."""
    if x > 30:
        s, term, total = 1 / (2 * x * x), mp.mpf(1), mp.mpf(1)
        for k in range(60):
            term *= (2 * k + 1) * s
            total += term
        return total / (2 * x)
    return x * mp.hyp1f1(1, 1.5, -x * x)


def dawson_slope(x: Any) -> Any:
    """x² times the derivative of Dawson's integral D, 1 - 2 x D."""
    with mp.workdps(80):
        return x * x * (1 - 2 * x * dawson(x))


def dawson_curve(x: Any) -> Any:
    """x³ times the second derivative of D."""
    with mp.workdps(80):
        return x**3 * ((4 * x * x - 2) * dawson(x) - 2 * x)


def inverse_square(f: Function, limit: Any) -> Function:
    """``f`` as a function of s = 1/x²."""
    return lambda s: f(1 / mp.sqrt(s)) if s > mp.mpf(10) ** -14 else limit


def auxiliary_f(x: Any) -> Any:
    """f of the sine and cosine integrals: ∫ exp(-xt)/(1 + t²)."""
    if x > 100:
        return sum((-1) ** k * mp.factorial(2 * k) / x ** (2 * k + 1) for k in range(30))
    return mp.ci(x) * mp.sin(x) + (mp.pi / 2 - mp.si(x)) * mp.cos(x)


def auxiliary_g(x: Any) -> Any:
    """g of the sine and cosine integrals: ∫ t exp(-xt)/(1 + t²)."""
    if x > 100:
        return sum((-1) ** k * mp.factorial(2 * k + 1) / x ** (2 * k + 2) for k in range(30))
    return -mp.ci(x) * mp.cos(x) + (mp.pi / 2 - mp.si(x)) * mp.sin(x)


def fresnel_f(x: Any) -> Any:
    """f of Fresnel's integrals."""
    if x > 12:
        z = mp.pi * x * x
        return sum((-1) ** k * mp.fac2(4 * k - 1) / z ** (2 * k) for k in range(30)) / (mp.pi * x)
    phase = mp.pi * x * x / 2
    return (0.5 - mp.fresnels(x)) * mp.cos(phase) - (0.5 - mp.fresnelc(x)) * mp.sin(phase)


def fresnel_g(x: Any) -> Any:
    """g of Fresnel's integrals."""
    if x > 12:
        z = mp.pi * x * x
        terms = ((-1) ** k * mp.fac2(4 * k + 1) / z ** (2 * k + 1) for k in range(30))
        return sum(terms) / (mp.pi * x)
    phase = mp.pi * x * x / 2
    return (0.5 - mp.fresnelc(x)) * mp.cos(phase) + (0.5 - mp.fresnels(x)) * mp.sin(phase)


def scaled_e1(x: Any) -> Any:
    """x exp(x) E1(x)."""
    if x > 1e3:
        return sum((-1) ** k * mp.factorial(k) / x**k for k in range(14))
    return x * mp.exp(x) * mp.e1(x)


def scaled_ei(s: Any) -> Any:
    """x exp(-x) Ei(x) for s = 1/x."""
    if s < 1e-3:
        return sum(mp.factorial(k) * s**k for k in range(14))
    return mp.exp(-1 / s) * mp.ei(1 / s) / s


def scaled_bessel(order: int) -> Function:
    """sqrt(x) exp(-x) I(x) for s = 1/x."""

    def value(s: Any) -> Any:
        if s < 1e-3:
            total = term = mp.mpf(1)
            for k in range(1, 20):
                term *= -(4 * order**2 - (2 * k - 1) ** 2) * s / (8 * k)
                total += term
            return total / mp.sqrt(2 * mp.pi)
        return mp.besseli(order, 1 / s) * mp.exp(-1 / s) / mp.sqrt(s)

    return value


EI_ZERO = mp.findroot(mp.ei, 0.3725)
CI_ZERO = mp.findroot(mp.ci, 0.6165)
PSI_ZERO = mp.findroot(mp.digamma, 1.4616)


def ci_rest(s: Any) -> Any:
    """(Ci(x) - log(x/x0))/(x² - x0²) for s = x² and the zero x0."""

    def regular(s: Any) -> Any:
        x = mp.sqrt(s)
        total, term = mp.mpf(0), mp.mpf(1)
        for k in range(1, 60):
            term *= -(x * x) / ((2 * k - 1) * (2 * k))
            total += term / (2 * k)
        return total

    constant = mp.euler + mp.log(CI_ZERO)
    return quotient(lambda s: regular(s) + constant, CI_ZERO**2)(s)


def si_ratio(s: Any) -> Any:
    """Si(x)/x for s = x²."""
    return sum((-1) ** k * s**k / ((2 * k + 1) * mp.factorial(2 * k + 1)) for k in range(60))


def ei_rest(x: Any) -> Any:
    """(Ei(x) - log(x/x0))/(x - x0)."""
    constant = mp.euler + mp.log(EI_ZERO)
    entire: Function = lambda x: sum(x**k / (k * mp.factorial(k)) for k in range(1, 90))  # noqa: E731
    return quotient(lambda x: entire(x) + constant, EI_ZERO)(x)


def entire_e1(x: Any) -> Any:
    """(E1(x) + log(x) + γ)/x."""
    return -sum((-1) ** k * x ** (k - 1) / (k * mp.factorial(k)) for k in range(1, 60))


def fresnel_ratio(kind: int) -> Function:
    """S(x)/x³ or C(x)/x, for s = x⁴."""

    def value(s: Any) -> Any:
        half = mp.pi / 2
        power = 2 * kind
        return sum(
            (-1) ** k * half ** (2 * k + kind) * s**k
            / (mp.factorial(2 * k + kind) * (4 * k + power + 1))
            for k in range(60)
        )  # fmt: skip

    return value


def eta_ratio(m: Any) -> Any:
    """sqrt(2 (μ - log(1 + μ)))/μ."""
    return mp.mpf(1) if m == 0 else mp.sqrt(2 * (m - mp.log(1 + m))) / abs(m)


def temme(rows: int, columns: int) -> list[list[float]]:
    """Taylor coefficients in η of c_k, DLMF 8.12.8 to 8.12.11, of Temme's expansion."""
    n = columns + 2 * rows + 4
    # μ as a series in η, from μ' = η (1 + μ)/μ; the first coefficient is 1.
    alpha: list[Any] = [mp.mpf(0), mp.mpf(1)]
    for k in range(2, n + 2):
        # η + η μ = μ μ': coefficients of η^k.
        known = alpha[k - 1] if k > 1 else mp.mpf(0)
        crossed = sum(alpha[i] * (k + 1 - i) * alpha[k + 1 - i] for i in range(2, k))
        alpha.append((known - crossed) / (k + 1))
    # 1/μ = (1/η) Σ β_k η^k.
    beta: list[Any] = [mp.mpf(1)]
    for k in range(1, n + 1):
        beta.append(-sum(alpha[i + 1] * beta[k - i] for i in range(1, k + 1)))
    stirling_series: list[Any] = [mp.mpf(1)]
    logs = [mp.bernoulli(2 * k) / (2 * k * (2 * k - 1)) for k in range(1, rows + 2)]
    for k in range(1, rows + 1):  # the exponential of Σ logs x^-(2k-1)
        total = sum(
            (2 * j - 1) * logs[j - 1] * stirling_series[k - (2 * j - 1)]
            for j in range(1, k + 1) if 2 * j - 1 <= k
        )  # fmt: skip
        stirling_series.append(total / k)
    current, result = [beta[k + 1] for k in range(n)], []
    for k in range(rows):
        if k:
            g = (-1) ** k * stirling_series[k]
            derivative = [(i + 1) * current[i + 1] for i in range(len(current) - 1)]
            # (1/η) c' + g/μ, of which the coefficients of 1/η cancel.
            assert abs(derivative[0] + g * beta[0]) < mp.mpf(10) ** -30
            current = [derivative[i + 1] + g * beta[i + 1] for i in range(len(derivative) - 1)]
        result.append([float(c) for c in current[:columns]])
    return result


SERIES: dict[str, tuple[float, float, Function]] = {
    "GAMMA": (-0.5, 0.5, lambda u: mp.gamma(2 + u)),
    "LOG_GAMMA": (-0.5, 0.5, quotient(lambda u: mp.loggamma(2 + u), mp.mpf(0))),
    "STIRLING": (0.0, 1 / 64, stirling),
    "DIGAMMA": (1.0, 2.0, quotient(mp.digamma, PSI_ZERO)),
    "DIGAMMA_TAIL": (0.0, 1 / 64, digamma_tail),
    "ERF": (0.0, 1.0, erf_ratio),
    "ERFCX": (-1.0, 1.0, halfline(3.75, lambda x: (1 + 2 * x) * erfcx(x))),
    "ERFINV": (0.0, 0.5625, erfinv_ratio),
    "QUANTILE_NEAR": (2.0, 5.0, quantile),
    "QUANTILE_MIDDLE": (5.0, 14.0, quantile),
    "QUANTILE_FAR": (14.0, 39.0, quantile),
    "DAWSON_NEAR": (
        0.0,
        4.0,
        lambda s: dawson(mp.sqrt(s)) / mp.sqrt(s) if s > 1e-30 else mp.mpf(1),
    ),
    "DAWSON_MIDDLE": (2.0, 5.5, lambda x: x * dawson(x)),
    "DAWSON_SLOPE": (2.0, 5.5, dawson_slope),
    "DAWSON_CURVE": (2.0, 5.5, dawson_curve),
    "DAWSON_FAR": (0.0, 1 / 5.5**2, inverse_square(lambda x: x * dawson(x), mp.mpf(1) / 2)),
    "DAWSON_SLOPE_FAR": (0.0, 1 / 5.5**2, inverse_square(dawson_slope, mp.mpf(-0.5))),
    "DAWSON_CURVE_FAR": (0.0, 1 / 5.5**2, inverse_square(dawson_curve, mp.mpf(1))),
    "SINE_INTEGRAL": (0.0, 16.0, si_ratio),
    "COSINE_INTEGRAL": (0.0, 16.0, ci_rest),
    "SICI_F": (-1.0, 1.0, ray(4.0, 10.0, lambda x: x * auxiliary_f(x))),
    "SICI_G": (-1.0, 1.0, ray(4.0, 10.0, lambda x: x * x * auxiliary_g(x))),
    "FRESNEL_S": (0.0, 2.6, fresnel_ratio(1)),
    "FRESNEL_C": (0.0, 2.6, fresnel_ratio(0)),
    "FRESNEL_F": (-1.0, 1.0, ray(1.6, 4.0, lambda y: mp.pi * mp.sqrt(y) * fresnel_f(mp.sqrt(y)))),
    "FRESNEL_G": (
        -1.0,
        1.0,
        ray(1.6, 4.0, lambda y: (mp.pi * y) ** 2 / mp.sqrt(y) * fresnel_g(mp.sqrt(y))),
    ),
    "E1_NEAR": (0.0, 0.75, entire_e1),
    "E1_FAR": (-1.0, 1.0, ray(0.75, 3.0, scaled_e1)),
    "EI_NEAR": (0.0, 6.0, ei_rest),
    "EI_MIDDLE": (1 / 14, 1 / 6, scaled_ei),
    "EI_FAR": (1 / 40, 1 / 14, scaled_ei),
    "EI_FARTHEST": (0.0, 1 / 40, scaled_ei),
    "ETA": (-0.32, 0.32, eta_ratio),
    "I0_FAR": (0.0, 1 / 8, scaled_bessel(0)),
    "I1_FAR": (0.0, 1 / 8, scaled_bessel(1)),
}


def decaying_bessel(n: int, order: int, weight: float) -> Function:
    """(-1)^order times that derivative of exp(-x) In(x), n = 0 or 1, without its decay.

    That is, times (x + weight)^(order + 1/2). By the means of exp(-x u) u^k over angles, u =
    1 - cos θ, which are Kummer's functions.
    """
    half = mp.mpf(1) / 2

    def mean(k: int, x: Any) -> Any:
        scale = 2**k * mp.beta(k + half, half) / mp.pi
        return scale * mp.hyp1f1(k + half, k + 1, -2 * x)

    def value(x: Any) -> Any:
        slope = mean(order, x) - n * mean(order + 1, x)
        return slope * (x + mp.mpf(weight)) ** (order + half)

    return value


def far(f: Function) -> Function:
    """``f`` as a function of 1/x; at 0 as far out as is needed for its limit."""
    return lambda v: f(1 / max(v, mp.mpf(10) ** -25))


BESSEL_SERIES: dict[str, tuple[float, float, Function]] = {}
for n, order in ((0, 1), (0, 2), (1, 1), (1, 2)):
    BESSEL_SERIES[f"I{n}E_NEAR_{order}"] = 0.0, 8.0, decaying_bessel(n, order, 2.0)
    BESSEL_SERIES[f"I{n}E_FAR_{order}"] = 0.0, 1 / 8, far(decaying_bessel(n, order, 0.0))


def coefficients(low: float, high: float, f: Function) -> list[float]:
    """Those of ``f`` on an interval, without what float64 does not see."""
    a, b = mp.mpf(low), mp.mpf(high)
    angles = [mp.pi * (j + 0.5) / NODES for j in range(NODES)]
    values = [mp.mpf(f((a + b) / 2 + (b - a) / 2 * mp.cos(w))) for w in angles]
    result = [
        2 * sum(v * mp.cos(k * w) for v, w in zip(values, angles)) / NODES for k in range(NODES)
    ]
    result[0] /= 2
    top = max(abs(c) for c in result)
    n = max(k for k, c in enumerate(result) if abs(c) > top * 2e-18) + 1
    return [float(c) for c in result[:n]]


def written(series: dict[str, tuple[float, float, Function]]) -> list[str]:
    """The assignments of coefficients."""
    parts: list[str] = []
    for name, (low, high, f) in series.items():
        result = coefficients(low, high, f)
        rows = [result[i : i + 4] for i in range(0, len(result), 4)]
        print(f"{name}: {len(result)} terms, the last {result[-1]:.1e}")
        lines = "".join("    " + ", ".join(repr(c) for c in row) + ",\n" for row in rows)
        parts.append(f"{name} = (\n{lines})\n")
    return parts


def main() -> None:
    """Write the modules."""
    parts = [HEADER]
    for name, value in [("EI_ZERO", EI_ZERO), ("CI_ZERO", CI_ZERO), ("PSI_ZERO", PSI_ZERO)]:
        high = float(value)
        parts.append(f"{name} = ({high!r}, {float(value - high)!r})\n")
    parts += written(SERIES)
    taylor = [1 - mp.euler] + [(-1) ** k * (mp.zeta(k) - 1) / k for k in range(2, 34)]
    lines = "".join(f"    {float(c)!r},\n" for c in taylor)
    parts.append(f"LOG_GAMMA_TAYLOR = (\n{lines})\n")
    rows = "".join(f"    ({', '.join(map(repr, row))}),\n" for row in temme(14, 22))
    parts.append(f"TEMME = (\n{rows})\n")
    TARGET.write_text("".join(parts))
    BESSEL_TARGET.write_text("".join([HEADER, *written(BESSEL_SERIES)]))


if __name__ == "__main__":
    main()
