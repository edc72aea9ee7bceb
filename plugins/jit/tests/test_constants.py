"""Programs that hold arrays of their own, called again and again."""

from __future__ import annotations

import numpy as np

from dovetail_core import stage_closed, typeof
from dovetail_jit import jit_p


def test_a_program_with_constants_is_called_without_python() -> None:
    """The third call is the first that stays in C++, which must know of the constants."""
    x, c = np.ones(4, np.float32), np.arange(4, dtype=np.float32)
    program = stage_closed(lambda x: [x * c, x[np.array([1, 1, 3])]], [typeof(x)], "program")
    for k in range(5):
        product, part = jit_p.bind(x + k, jaxpr=program, name="program", donated_invars=(False,))
        np.testing.assert_array_equal(product, (1 + k) * c)
        np.testing.assert_array_equal(part, [1 + k] * 3)
