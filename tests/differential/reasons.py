"""Differences from the peer that are meant, and why."""

from __future__ import annotations

import re
from typing import NamedTuple

from .variants import EMPTY


class Reason(NamedTuple):
    """For texts, variants, kinds (value, gradient) and told differences that match."""

    why: str
    text: str = ""
    variant: str = ""
    what: str = ""
    told: str = ""


SMALL = r"\de-(0[4-9]|1\d) apart$"
"""Told of numbers that agree to three digits and more."""

REASONS: tuple[Reason, ...] = (
    Reason("the peer has no such name", told="theirs AttributeError"),
    Reason("the peer has no such derivative", what="gradient", told="theirs NotImplementedError"),
    Reason("the peer has no such derivative", what="gradient", told="Reverse-mode|gradient with"),
    Reason("subnormal numbers: operations and compilers flush or keep them", variant="tiny"),
    Reason(
        "more element types are accepted: booleans, integers, 16-bit floats, complex numbers",
        variant="bool|int|float16|complex|float64",
        told="does not raise, theirs (TypeError|ValueError|NotImplementedError)",
    ),
    Reason("what has no elements gives what NumPy gives", variant=EMPTY, told="does not raise"),
    Reason("windows and indices beyond an empty operand are refused", variant=EMPTY, told="raises"),
    Reason("of no elements there are as many as were asked for", "cov|repeat", EMPTY, told="shape"),
    Reason(
        "unsigned integers do not wrap around below zero",
        "softmax|log_sigmoid|log1mexp",
        "uint8",
    ),
    Reason("arrays are called what users call them", "array_repr|array_str"),
    Reason("sizes are Python's integers", "shape_tuple", told="of kind value"),
    Reason("functions must return the type that they are given", "custom_linear_solve|custom_root"),
    Reason(
        "16-bit floats want a conversion in what solves with matrices",
        variant="float16",
        told="raises TypeError: lax.linalg",
    ),
    Reason(
        "the peer's derivative of distinct elements is zero",
        "unique|intersect1d|setdiff1d|setxor1d|union1d",
        what="gradient",
    ),
    Reason("only the triangle that is read has a derivative", r"sl\.cho", what="gradient"),
    Reason("derivatives of ldexp are powers of two, at zero, too", "ldexp", what="gradient"),
    Reason("NaN in, NaN out", variant="specials", told=r"values \[[^\]]*nan"),
    Reason("NaN is one value of a set", "setxor1d", "specials"),
    Reason(
        "the limit or the derivative exists where the peer has NaN or infinity",
        told=r"theirs \[[^\]]*(nan|inf)",
    ),
    Reason("nothing is defined there", "acosh|arccosh", "negative", "gradient"),
    Reason(
        "one of two one-sided derivatives",
        r"expon|uniform\.cdf|entr|pareto|chi2|gamma|ndtri|zeta|dirichlet|spence|t\.logpdf",
        what="gradient",
    ),
    Reason("rounding of sums and series", r"s[a-z]\.|gamma|nn\.|la\.", told=SMALL),
    Reason(
        "weak types of functions of SciPy and of a few others follow one rule",
        r"s[pt]\.|rng_uniform|jnp\.gradient|nn\.|laxl\.",
        told="weak type",
    ),
    Reason(
        "probabilities of complex numbers mean nothing",
        r"st\.|sp\.owens_t",
        "complex",
        told="raises TypeError",
    ),
    Reason(
        "sums and products of small integers are of the default type",
        "cumulative_prod|convolution_matrix|reduceat",
        told="dtype",
    ),
    Reason("types of results are those of arguments", r"pascal|owens_t|st\.sem", told="dtype"),
    Reason("bins that do not ascend have no order", "digitize"),
    Reason("NaN comes last", "approx_min_k|approx_max_k", "specials"),
    Reason("large numbers are rounded without overflow", "round", "huge"),
    Reason("of zero and what is nearly zero", r"gammaln|loggamma|betaln|beta\.logpdf|detrend|idct"),
    Reason("the peer's derivative is wrong at zero", r"sp\.(i0|hyp2f1)", what="gradient"),
    Reason("nothing is defined there", r"kl_div|pareto|gennorm", "negative|zeros|huge"),
    Reason("SciPy's: a series that ends where both orders are", "hyp1f1", "negative"),
)


def reason(text: str, variant: str, what: str, told: str) -> str:
    """Why an answer differs; an empty string where that is not decided."""
    for r in REASONS:
        pairs = ((r.text, text), (r.variant, variant), (r.what, what), (r.told, told))
        if all(re.search(pattern, x) for pattern, x in pairs):
            return r.why
    return ""
