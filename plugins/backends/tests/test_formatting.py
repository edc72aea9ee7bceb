"""Arrays in format strings: scalars are formatted as NumPy's are."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail.numpy as dnp


@pytest.mark.parametrize("value", [1.1, 1.1 + 2j, 3, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "complex64", "int8", "bool", "bfloat16"])
def test_scalars_as_numpy_formats_them(value: complex, dtype: str) -> None:
    if isinstance(value, complex) and dtype != "complex64":
        value = value.real
    x = dnp.asarray(value, dtype)
    assert f"{x}" == f"{np.asarray(x)[()]}" and str(x) == str(np.asarray(x)[()])


def test_arrays_are_written_as_they_print() -> None:
    assert f"{dnp.arange(2.0)}" == "[0. 1.]" and f"{dnp.float32(2.9998636)}" == "2.999863624572754"
