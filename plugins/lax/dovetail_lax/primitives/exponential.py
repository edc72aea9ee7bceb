"""Primitives of exponentials, logarithms and the logistic function."""

from __future__ import annotations

from dovetail_core import Primitive

from ._elementwise import INEXACT, elementwise

exp_p = elementwise(Primitive("exp"), INEXACT)
exp2_p = elementwise(Primitive("exp2"), INEXACT)
expm1_p = elementwise(Primitive("expm1"), INEXACT)
log_p = elementwise(Primitive("log"), INEXACT)
log1p_p = elementwise(Primitive("log1p"), INEXACT)
logistic_p = elementwise(Primitive("logistic"), INEXACT)
