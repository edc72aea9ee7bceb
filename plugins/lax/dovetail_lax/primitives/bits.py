"""Primitives of logic and bits."""

from __future__ import annotations

from dovetail_core import Primitive

from ._elementwise import BITS, INTEGER, elementwise

not_p = elementwise(Primitive("not"), BITS, label="bitwise_not")
and_p = elementwise(Primitive("and"), BITS, label="bitwise_and")
or_p = elementwise(Primitive("or"), BITS, label="bitwise_or")
xor_p = elementwise(Primitive("xor"), BITS, label="bitwise_xor")
shift_left_p = elementwise(Primitive("shift_left"), INTEGER)
shift_right_logical_p = elementwise(Primitive("shift_right_logical"), INTEGER)
shift_right_arithmetic_p = elementwise(Primitive("shift_right_arithmetic"), INTEGER)
population_count_p = elementwise(Primitive("population_count"), INTEGER)
clz_p = elementwise(Primitive("clz"), INTEGER)
