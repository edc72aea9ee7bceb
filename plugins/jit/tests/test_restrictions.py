"""The options no_tracing and no_execution."""

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_jit import jit, make_jaxpr
from dovetail_jit.options import no_execution, no_tracing

X = dnp.ones(3)


def test_no_tracing_lets_known_calls_through():
    f = jit(lambda x: x * 2)
    f(X)
    with no_tracing():
        np.testing.assert_array_equal(f(X), [2, 2, 2])
        with pytest.raises(RuntimeError, match=r"<lambda> would be traced at .*test_restrictions"):
            f(1)
        with pytest.raises(RuntimeError, match="with arguments of these types"):
            jit(lambda x: x)(X)
    np.testing.assert_array_equal(f(np.int32(1)), 2)


@pytest.mark.parametrize("f", [jit(lambda x: x * 2), lambda x: x + x, dnp.sin, lambda x: x[0]])
def test_no_execution_stops_calls_that_ran_before(f):
    expected = f(X)
    with no_execution():
        with pytest.raises(RuntimeError, match=r"would run on a device at .* no_execution forbids"):
            f(X)
        make_jaxpr(f)(X)
        jit(f).lower(X).compile()
    np.testing.assert_array_equal(f(X), expected)


def test_as_decorators():
    @no_execution(True)
    def run():
        return X * 3

    with pytest.raises(RuntimeError, match="no_execution"):
        run()
    np.testing.assert_array_equal(X * 3, [3, 3, 3])
