"""What shardings are compared with, also where they ask for nothing."""

from __future__ import annotations

from typing import Any

import pytest

from dovetail_backends import devices
from dovetail_jit import jit
from dovetail_xla.shardings import single_device_sharding

HERE = single_device_sharding(devices()[0])


def first(a: Any, b: Any) -> Any:
    return a


@pytest.mark.parametrize("ins", [(None, None), (HERE, None), HERE], ids=["none", "one", "device"])
def test_arguments_by_name_are_refused(ins: Any) -> None:
    with pytest.raises(ValueError, match="arguments are given by position"):
        jit(first, in_shardings=ins)(1, b=2)
    assert jit(first, in_shardings=ins)(1, 2) == 1
    assert jit(first, in_shardings=None)(1, b=2) == 1


@pytest.mark.parametrize("ins", [(None,), ((None, None), None), ({"a": None}, None)])
def test_the_structure_of_arguments_is_compared(ins: Any) -> None:
    with pytest.raises(ValueError, match="in_shardings must be a tree prefix"):
        jit(first, in_shardings=ins)(1, 2)


@pytest.mark.parametrize("outs", [(None, None), (HERE, None)])
def test_the_structure_of_results_is_compared(outs: Any) -> None:
    with pytest.raises(ValueError, match="out_shardings must be a tree prefix"):
        jit(first, out_shardings=outs)(1, 2)
    assert jit(lambda a: (a, a), out_shardings=outs)(1) == (1, 1)
