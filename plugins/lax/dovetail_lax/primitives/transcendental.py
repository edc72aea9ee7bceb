"""Primitives of exponentials, logarithms, trigonometric and hyperbolic functions."""

from __future__ import annotations

from dovetail_core import Primitive

from .elementwise import INEXACT, elementwise
from .traits import describe

exp_p = elementwise(Primitive("exp"), INEXACT)
exp2_p = elementwise(Primitive("exp2"), INEXACT)
expm1_p = elementwise(Primitive("expm1"), INEXACT)
log_p = elementwise(Primitive("log"), INEXACT)
log1p_p = elementwise(Primitive("log1p"), INEXACT)
logistic_p = elementwise(Primitive("logistic"), INEXACT)


sin_p = elementwise(Primitive("sin"), INEXACT)
cos_p = elementwise(Primitive("cos"), INEXACT)
tan_p = elementwise(Primitive("tan"), INEXACT)
asin_p = elementwise(Primitive("asin"), INEXACT)
acos_p = elementwise(Primitive("acos"), INEXACT)
atan_p = elementwise(Primitive("atan"), INEXACT)
atan2_p = elementwise(Primitive("atan2"), INEXACT)
sinh_p = elementwise(Primitive("sinh"), INEXACT)
cosh_p = elementwise(Primitive("cosh"), INEXACT)
tanh_p = elementwise(Primitive("tanh"), INEXACT)
asinh_p = elementwise(Primitive("asinh"), INEXACT)
acosh_p = elementwise(Primitive("acosh"), INEXACT)
atanh_p = elementwise(Primitive("atanh"), INEXACT)


describe(__name__)
