"""The laws of differentiation's tables: what they accept, and what they notice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dovetail_ad.laws import jvp_law, transpose_law
from dovetail_core import Primitive
from dovetail_lax import cos_p, mul_p, neg_p, sin_p
from dovetail_testing import Sample

X = np.linspace(0.2, 1.4, 5, dtype=np.float32)


def sine(name: str, tangent: Callable[[Any, Any], Any]) -> Sample:
    """A sine whose author says ``tangent(primal, tangent)``."""
    p = Primitive(f"laws_test.{name}", anonymous=True)
    p.def_abstract_eval(lambda x: x)
    p.def_decomposition(sin_p.bind)
    p.rules = {
        "ad.jvp": lambda primals, tangents: (
            sin_p.bind(primals[0]),
            tangent(primals[0], tangents[0]),
        )
    }
    return Sample(p, (X,))


def right(x: Any, t: Any) -> Any:
    return mul_p.bind(t, cos_p.bind(x))


def test_a_right_rule_passes() -> None:
    sample = sine("right", right)
    jvp_law(sample)
    transpose_law(sample)


@pytest.mark.parametrize(
    ("name", "tangent"),
    [
        ("sign", lambda x, t: neg_p.bind(right(x, t))),
        ("little", lambda x, t: mul_p.bind(np.float32(1.02), right(x, t))),
        ("constant", lambda x, t: t),
    ],
)
def test_wrong_tangents_are_noticed(name: str, tangent: Callable[[Any, Any], Any]) -> None:
    with pytest.raises(AssertionError, match="tangent against finite differences"):
        jvp_law(sine(name, tangent))


@pytest.mark.parametrize("fault", [lambda ct: neg_p.bind(ct), lambda ct: None])
def test_wrong_transposes_are_noticed(fault: Callable[[Any], Any]) -> None:
    twice = Primitive(f"laws_test.twice_{fault(X) is None}", anonymous=True)
    twice.def_abstract_eval(lambda x: x)
    twice.def_decomposition(lambda x: mul_p.bind(x, np.float32(2)))
    twice.rules = {"ad.transpose": lambda ct, x: [fault(mul_p.bind(ct, np.float32(2)))]}
    p = sine(f"linear_{fault(X) is None}", lambda x, t: twice.bind(t))
    with pytest.raises(AssertionError):
        transpose_law(p)
