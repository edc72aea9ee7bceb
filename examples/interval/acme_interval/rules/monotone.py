"""Rules of what is monotone in each operand: what rises or falls maps bounds to bounds.

So do primitives that move elements about, and sums and extrema of elements.
"""

from __future__ import annotations

from dovetail_core import primitives

from .kinds import monotone

RISING = """
add max min clamp sign floor ceil round reduce_precision nextafter
exp exp2 expm1 log log1p logistic sqrt cbrt
asin atan sinh tanh asinh acosh atanh erf erf_inv
reshape transpose broadcast_in_dim squeeze rev slice concatenate pad split stack unstack tile
copy stop_gradient optimization_barrier
reduce_sum reduce_max reduce_min cumsum cummax cummin cumlogsumexp
reduce_window_sum reduce_window_max reduce_window_min
psum pmax pmin ppermute all_gather all_to_all
""".split()

MIXED = {
    "sub": "+-",
    "neg": "-",
    "acos": "-",
    "erfc": "-",
    "igamma": "-+",
    "igammac": "+-",
    "regularized_incomplete_beta": "-++",
}

for _name in RISING:
    monotone(primitives()[_name])
for _name, _directions in MIXED.items():
    monotone(primitives()[_name], _directions)
