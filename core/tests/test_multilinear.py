"""In which groups of operands an operation is multilinear, by its traits."""

from __future__ import annotations

import pytest

from dovetail_core import Traits

CASES = [
    (Traits(linear=((0, 1),)), [0], [(0, 1)]),  # a sum
    (Traits(linear=((0, 1),)), [0, 1], [(0, 1)]),
    (Traits(linear=((0,), (1,))), [1], [(1,)]),  # a product
    (Traits(linear=((0,), (1,))), [0, 1], [(0,), (1,)]),
    (Traits(linear=((0,),)), [0, 1], None),  # a quotient
    (Traits(linear=((0,),)), [1], None),
    (Traits(linear=(slice(1, None),), constant=(0,)), [1, 2], [(1, 2)]),  # a choice
    (Traits(linear=(slice(1, None),), constant=(0,)), [0], []),
    (Traits(constant=(0, 1)), [0, 1], []),  # a comparison
    (Traits(linear=((0, 1), (1, 2))), [0, 2], None),  # linear in one at a time: nothing follows
    (Traits(linear=((0, 1), (1, 2))), [1, 2], [(1, 2)]),
    (Traits(linear=lambda params: ((0,),) if params["scale"] else ()), [0], None),
]


@pytest.mark.parametrize("traits, varying, groups", CASES)
def test_groups(traits, varying, groups):
    assert traits.multilinear_in(varying, 3, {"scale": 0}) == groups
