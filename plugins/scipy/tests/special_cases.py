"""Arguments at which special functions are tested, and SciPy's functions of the same names."""

# ruff: noqa: E501

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

INF, NAN = np.inf, np.nan
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-30, -1e-30, 30.0, -30.0, INF, -INF, NAN])
LINE = np.array([-7.3, -2.2, -0.7, -0.01, 0.02, 0.3, 0.9, 1.4, 2.6, 4.5, 6.1, 12.7, 25.0])
POSITIVE = np.array([1e-5, 0.02, 0.3, 0.9, 1.4, 2.6, 4.5, 6.1, 12.7, 25.0])
UNIT = np.array([1e-6, 0.02, 0.3, 0.45, 0.62, 0.9, 0.999])


def _pairs(first: Any, second: Any) -> tuple[Any, ...]:
    a, b = np.meshgrid(first, second)
    return a.ravel(), b.ravel()


A = np.array([0.05, 0.6, 1.0, 3.3, 9.5, 24.0, 60.0])
X = np.array([0.01, 0.5, 2.0, 8.7, 22.0, 75.0])
AB = _pairs(np.array([0.2, 1.0, 3.7, 11.0, 40.0]), np.array([0.4, 1.5, 6.0, 30.0]))
ABX = tuple(np.stack([np.repeat(v, 3) for v in AB])) + (np.tile([0.1, 0.48, 0.83], AB[0].size),)

ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "beta": AB, "betaln": AB, "betainc": ABX,
    "boxcox": _pairs(POSITIVE[1:], [-2.0, -1e-4, 0.0, 1e-3, 1.7]),
    "boxcox1p": _pairs(POSITIVE[1:], [-2.0, -1e-4, 0.0, 1e-3, 1.7]),
    "comb": _pairs([0.0, 4.0, 5.5, 20.0, 33.0], [0.0, 1.0, 3.0, 4.0]),
    "dawsn": (LINE,), "digamma": (LINE,), "entr": (LINE,), "erf": (LINE,), "erfc": (LINE,),
    "erfcx": (LINE[2:],), "erfinv": (np.concatenate([UNIT, -UNIT]),), "exp1": (POSITIVE,),
    "expi": (LINE,), "expit": (LINE,),
    "expn": tuple(v.astype(float) for v in _pairs([0, 1, 2, 5, 40], POSITIVE)),
    "factorial": (np.array([0.0, 1.0, 2.0, 5.0, 0.5, 7.3, 30.0, 33.0, -2.0]),),
    "gamma": (LINE,), "gammainc": _pairs(A, X), "gammaincc": _pairs(A, X), "gammaln": (LINE,),
    "gammasgn": (LINE,), "i0": (LINE,), "i0e": (LINE,), "i1": (LINE,), "i1e": (LINE,),
    "hyp1f1": tuple(v.ravel() for v in np.meshgrid([0.5, 2.2, 7.0], [0.8, 3.1], [-60.0, -3.0, 0.4, 9.0, 55.0])),
    "hyp2f1": tuple(
        v.ravel() for v in np.meshgrid([0.5, 2.2], [0.8, 3.1], [1.3, 4.6], [-40.0, -0.7, 0.3, 0.8, 0.98])
    ),
    "kl_div": _pairs(POSITIVE, POSITIVE * 1.01), "log_ndtr": (np.append(LINE * 3, -500.0),),
    "loggamma": (POSITIVE,), "logit": (UNIT,), "ndtr": (LINE / 2,), "ndtri": (UNIT,),
    "owens_t": _pairs([-2.0, 0.0, 0.3, 1.5, 6.0], [-3.0, -0.2, 0.5, 1.0, 8.0]),
    "poch": _pairs([0.3, 2.5, 9.0, 21.0], [-0.5, 0.0, 1.0, 3.4, 7.7]),
    "rel_entr": _pairs(POSITIVE, POSITIVE * 1.01), "spence": (np.append(POSITIVE, 0.0),),
    "xlog1py": _pairs([0.0, 0.3, -2.0], [-0.5, 1e-9, 0.0, 3.0]),
    "xlogy": _pairs([0.0, 0.3, -2.0], [0.5, 1e-9, 0.999, 3.0]),
    "zeta": _pairs([1.001, 1.5, 4.0, 21.0], [0.05, 0.9, 3.3, 40.0]),
}  # fmt: skip


UNARY = [
    "dawsn",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp1",
    "expi",
    "expit",
    "gamma",
]
UNARY += ["gammaln", "gammasgn", "i0", "i0e", "i1", "i1e", "log_ndtr", "logit", "ndtr", "ndtri"]
for _name in UNARY:
    ARGUMENTS[_name] = (np.concatenate([ARGUMENTS[_name][0], EDGES]),)


def wanted(name: str, *args: Any) -> Any:
    """SciPy's value in double precision; JAX's where the two differ."""
    args = tuple(np.asarray(a, float) for a in args)
    x = args[0]
    if name == "expn":
        return special.expn(args[0].astype(int), args[1])
    value = np.array(getattr(special, name)(*args))
    if name in ("digamma", "gamma", "gammasgn"):  # NaN at poles but 0, and at minus infinity
        value[(x < 0) & (x == np.floor(x))] = NAN
    if name == "gammasgn":
        value[x == 0], value[x == INF] = np.copysign(1.0, x[x == 0]), 1.0
    if name == "gammaln":
        value[np.isinf(x)] = INF
    if name in ("i0", "i1"):
        value[np.isinf(x)] = INF if name == "i0" else x[np.isinf(x)]
    if name in ("exp1", "spence"):
        value[x < 0] = NAN
    return value
