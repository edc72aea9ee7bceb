"""Samples of the primitives, and the law of the table."""

import numpy as np

from dovetail_core.testing import Sample, law

from .depends import depends
from .primitives import rotate_p, square_p


def samples():
    x = np.array([1.5, -2.0, 0.5], np.float32)
    yield Sample(rotate_p, (x,), {"by": 1})
    yield Sample(rotate_p, (x,), {"by": -2})
    yield Sample(square_p, (x,))


@law("depends", without=("empty",), applies=lambda s: s.primitive is rotate_p)
def depends_law(sample):
    """A result without marked operands is not marked."""
    which = depends(lambda *xs: [sample.primitive.bind(*xs, **sample.params)])
    assert which(*sample.args, marked=[False] * len(sample.args)) == [False]
    assert which(*sample.args, marked=[True] * len(sample.args)) == [True]
