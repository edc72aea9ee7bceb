"""Values of high types that stand for an array, and forward what they are asked to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.hijax import HiType, register_hitype


class Named:
    """An array with a name."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array, name)

    def __jax_array__(self) -> Any:
        return self.array


@dataclass(frozen=True)
class NamedType(HiType):
    """Its type, which has no shape."""

    element: Any

    def lo_ty(self) -> Any:
        return [self.element]


register_hitype(Named, lambda x: NamedType(dovetail.typeof(x.array)))


@pytest.mark.parametrize("make", [dnp.zeros_like, lambda x: lax.full_like(x, 0)])
def test_arrays_like_it_are_where_its_array_is(make: Any) -> None:
    device = dovetail.devices()[0]
    for array in (dnp.ones(3), dovetail.device_put(dnp.ones(3), device)):
        like = make(Named(array))
        assert like.committed == array.committed and like.sharding == array.sharding
        np.testing.assert_array_equal(like, np.zeros(3, np.float32))
