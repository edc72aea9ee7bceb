"""The option numpy_rank_promotion: which functions it stops, where it warns, what it leaves."""

import warnings

import numpy as np
import pytest

import dovetail_nn as nn
import dovetail_numpy as dnp
import dovetail_scipy as scipy
from dovetail_core import config
from dovetail_jit import jit, make_jaxpr
from dovetail_numpy.promotion import numpy_rank_promotion

X, Y = dnp.ones(3), dnp.ones((2, 3))
MIXED = {
    "operator": lambda: X + Y,
    "function": lambda: dnp.subtract(Y, X),
    "power": lambda: dnp.power(X, Y),
    "jit": lambda: jit(lambda a, b: a * b)(X, Y),
    "vecdot": lambda: dnp.vecdot(Y, X),
    "logsumexp": lambda: nn.logsumexp(Y, b=X),
    "norm.pdf": lambda: scipy.stats.norm.pdf(Y, X),
    "betaln": lambda: scipy.special.betaln(Y, X),
    "types": lambda: dnp.logaddexp(X, dnp.ones((2, 3), int)),
}


@pytest.mark.parametrize("name", MIXED)
def test_ranks_that_differ_are_refused_and_allowed_again(name):
    before = np.asarray(MIXED[name]())
    with numpy_rank_promotion("raise"), pytest.raises(ValueError, match="numbers of axes") as e:
        MIXED[name]()
    assert "(3,)" in str(e.value)
    assert "(2, 3)" in str(e.value)
    assert "test_rank_promotion.py" in str(e.value)
    assert "could not be broadcast together" in str(e.value)
    assert str(e.value).endswith("set the option numpy_rank_promotion to 'allow'.")
    np.testing.assert_array_equal(MIXED[name](), before)


def test_scalars_and_equal_ranks_are_no_promotion():
    with numpy_rank_promotion("raise"):
        assert (X * 2 + dnp.float32(1)).shape == (3,)
        assert (Y + dnp.ones((1, 3))).shape == (2, 3)
        assert dnp.broadcast_to(X, (2, 3)).shape == (2, 3)


def test_each_trace_warns_at_the_users_line():
    with numpy_rank_promotion("warn"), warnings.catch_warnings(record=True) as result:
        warnings.simplefilter("always")
        for _ in range(2):
            make_jaxpr(lambda a, b: a - b)(X, Y)
    assert [w.filename for w in result] == [__file__] * 2
    assert str(result[0].message).startswith("subtract got shapes of different numbers of axes")


def test_only_known_choices():
    with pytest.raises(ValueError, match="is one of allow, warn, raise, not 'never'"):
        numpy_rank_promotion("never")
    assert config.jax_numpy_rank_promotion == "allow"


def test_polyfit_promotes_no_ranks() -> None:
    v = dnp.arange(3.0)
    with numpy_rank_promotion("raise"):
        assert dnp.polyfit(v, v, 1).shape == (2,)


def test_masks_and_shapes_of_results_may_have_other_ranks():
    with numpy_rank_promotion("raise"):
        assert dnp.sum(Y, where=X > 0) == 6
        assert dnp.mean(Y, where=X > 0) == 1
        assert dnp.full((2, 3), X).shape == (2, 3)
        assert dnp.choose(dnp.zeros((2, 3), int), [X, X]).shape == (2, 3)
