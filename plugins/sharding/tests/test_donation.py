"""Donated arrays on several devices: which result can have their memory, and what is warned of."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
from dovetail import NamedSharding, P, lax

X = np.arange(64, dtype=np.float32).reshape(8, 8)


@pytest.fixture
def put(mesh):
    return lambda *spec: dt.device_put(X, NamedSharding(mesh, P(*spec)))


def test_results_that_are_divided_in_another_way_are_warned_of(mesh, put):
    x = put("x")
    whole = NamedSharding(mesh, P())
    message = r"buffers were not usable. .*f32\[2,8\] \(on each device\) is not used for any result"
    for f in (lambda x: 2 * x, lambda x: x.sum(), lambda x: x[:4]):
        with pytest.warns(UserWarning, match=message):
            dt.jit(f, donate_argnums=0, out_shardings=whole)(x)
        assert not x.is_deleted()
    with dt.set_mesh(mesh), pytest.warns(UserWarning, match=message):
        dt.jit(lambda x: x * 2, donate_argnums=0, out_shardings=P("y")).lower(x)


def test_results_that_are_as_large_can_have_it(mesh, put):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for f, spec in (
            (lambda x: x.astype(dnp.int32), None),
            (lambda x: x.reshape(64) + 1, None),
            (lambda x: x[:2] + 1, P()),
            (lambda x: 2 * x, P("x", None)),
        ):
            x = put("x")
            out = None if spec is None else NamedSharding(mesh, spec)
            wanted = np.asarray(f(x))
            y = dt.jit(f, donate_argnums=0, out_shardings=out)(x)
            np.testing.assert_array_equal(y, wanted)
            assert x.is_deleted()
            with pytest.raises(RuntimeError, match="after it was donated to"):
                x + 1
        dt.jit(lambda x: x.sum(), donate_argnums=0)(put("x"))  # nobody says where that is


def test_on_one_device():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype, taken in ((dnp.int32, True), (dnp.float16, False)):
            x = dnp.array(X)
            y = dt.jit(lambda x: lax.convert_element_type(x, dtype), donate_argnums=0)(x)  # noqa: B023
            np.testing.assert_array_equal(y, X.astype(dtype))
            assert x.is_deleted() is taken
            if not taken:
                np.testing.assert_array_equal(x, X)
