"""Methods and operators of arrays and tracers."""

from __future__ import annotations

import operator
import sys

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_jit import eval_shape, jit, make_jaxpr

METHODS = """\
f2.all(axis=0)
f2.any()
f2.argmax(axis=1)
f2.argmin()
f1.argsort()
f2.clip(-1, 1)
c1.conj()
f2.cumprod(axis=1)
f2.cumsum()
f2.diagonal()
f2.dot(sq)
f2.flatten()
f2.max(axis=0, keepdims=True)
f2.mean(axis=0)
f2.min()
b2.nonzero()
f2.prod()
f2.ravel()
f2.repeat(2, axis=1)
f2.reshape(3, 2)
f2.reshape((3, -1))
f2.round(1)
srt.searchsorted(f1)
f2[None].squeeze()
f2.std()
f2.sum(axis=1)
f2.swapaxes(0, 1)
f2.take(np.array([0, 1]))
f2.trace()
f2.transpose()
f3.transpose(2, 0, 1)
f2.var(axis=1, ddof=1)
f2.T
f3.mT
c1.real
c1.imag
f1.imag
f1.copy()
f2.compress(np.array([True, False]), axis=0)
f1.itemsize
f1.nbytes
abs(f1)
-f1
+f1
~i1
divmod(f1, 2)
divmod(7, p1)
2.0 in srt
list(f2)
len(f2)
""".splitlines()
BINARY = "add sub mul truediv floordiv mod pow lt le gt ge eq ne".split()
BITS = "and_ or_ xor lshift rshift".split()


@pytest.mark.parametrize("case", METHODS)
def test_methods(case, same_as_numpy):
    same_as_numpy(case)


@pytest.mark.parametrize("name", BINARY + BITS)
def test_operators_with_arrays_numpy_arrays_and_numbers(name, arrays, near):
    f = getattr(operator, name)
    x, number = (arrays["u1"] % 4, 2) if name in BITS else (arrays["p1"], 1.5)
    y = x[::-1] if name in BITS else arrays["srt"] + 9
    a, b = np.asarray(x), np.asarray(y)
    near(f(x, y), f(a, b), 1e-4)
    near(f(x, number), f(a, type(a[0])(number)), 1e-4)
    near(f(number, x), f(type(a[0])(number), a), 1e-4)
    near(f(x, b), f(a, b), 1e-4)
    near(f(a, y), f(a, b), 1e-4)
    near(jit(f)(x, y), f(a, b), 1e-4)
    near(jit(lambda v: f(v, number))(x), f(a, type(a[0])(number)), 1e-4)
    near(jit(lambda v: f(number, v))(x), f(type(a[0])(number), a), 1e-4)


def test_rounding_to_decimals_keeps_the_type_and_to_integers_does_not():
    assert round(dnp.asarray(2.567), 2).dtype == np.float32
    assert round(dnp.asarray(2.5)).dtype == np.int32
    assert round(dnp.asarray([2.5, 3.5])).tolist() == [2, 4]


def test_matrix_products_with_numpy_arrays(arrays, near):
    x, w = arrays["f2"], np.asarray(arrays["sq"])
    near(x @ w, np.asarray(x) @ w)
    near(w @ x.T, w @ np.asarray(x).T)
    near(jit(lambda v: w @ v.T)(x), w @ np.asarray(x).T)


def test_unknown_classes_are_asked_first():
    class Other:
        def __radd__(self, x):
            return "radd"

        def __rmatmul__(self, x):
            return "rmatmul"

        def __eq__(self, x):
            return "eq"

    x = dnp.ones(2)
    assert x + Other() == "radd"
    assert x @ Other() == "rmatmul"
    assert (x == Other()) == "eq"
    assert (x == None) is False  # noqa: E711
    assert (x != "a") is True


@pytest.mark.parametrize(("call", "text"), [
    (lambda x: x + [1], r"add is not defined for an array and \[1\] of type list.*asarray"),
    (lambda x: dnp.asarray(2) * [1, 2], r"multiply is not defined for .*\[1, 2\] of type list"),
    (lambda x: (1, 2) * dnp.asarray(2), r"multiply is not defined for .*\(1, 2\) of type tuple"),
    (lambda x: x + object(), r"unsupported operand type\(s\) for \+"),
    (lambda x: x == [1], r"cannot be compared \(==\) with \[1\] of type list.*asarray"),
    (lambda x: x < (1, 2), r"cannot be compared \(<\)"),
    (lambda x: x < None, "not supported between"),
    (lambda x: ~x, "invert does not accept dtype float32"),
    (lambda x: x << 1, "left_shift does not accept dtype float32"),
    (lambda x: -(x > 0), "negative does not accept dtype bool"),
    (lambda x: (x > 0) - (x > 0), "subtract does not accept dtype bool"),
    (lambda x: x + dnp.ones(3), r"add got shapes .*\(6,\), \(3,\) at .*test_arrays.py.*right"),
    (lambda x: dnp.arange(3) ** -1, r"integers cannot be raised to negative powers, got i32\[3\]"),
    (lambda x: operator.setitem(x, 0, 1), r"at\[\.\.\.\]\.set\(value\)"),
    (lambda x: len(x[0]), r"len\(\) of an array without dimensions"),
    (lambda x: iter(x[0]), "iteration over an array without dimensions"),
    (lambda x: jit(lambda v: operator.setitem(v, 0, 1))(x), "arrays are immutable"),
])  # fmt: skip
def test_errors(call, text, arrays):
    with pytest.raises(TypeError, match=text):
        call(arrays["f1"])


def test_attributes_that_are_unknown_are_named():
    with pytest.raises(AttributeError, match="foo"):
        dnp.ones(2).foo  # noqa: B018
    with pytest.raises(AttributeError, match="foo"):
        jit(lambda x: x.foo)(dnp.ones(2))


def test_the_namespace_of_arrays_is_the_module():
    namespace = dnp.ones(2).__array_namespace__()
    assert namespace is sys.modules.get("dovetail.numpy", dnp)  # as programs import it
    assert jit(lambda x: x.__array_namespace__().sin(x))(dnp.zeros(2)).tolist() == [0, 0]


def test_printing_takes_options():
    assert dnp.array_str(dnp.asarray([1.23456]), precision=2) == "[1.23]"
    assert dnp.array_repr(dnp.asarray([1, 2])) == "Array([1, 2], dtype=int32)"
    with dnp.printoptions(precision=1):
        assert "1.2" in repr(dnp.asarray([1.23456]))


def test_masks_are_not_lost():
    masked = np.ma.masked_array([1.0, 2.0], [False, True])
    for call in (
        lambda: jit(dnp.sin)(masked),
        lambda: dnp.asarray(masked),
        lambda: dnp.sin(masked),
        lambda: dnp.ones(2) + masked,
        lambda: dnp.where(True, masked, 0),
        lambda: dnp.concatenate([masked]),
        lambda: dnp.zeros(2).at[0].set(np.ma.masked),
        lambda: dnp.zeros(2)[np.ma.masked_array([0, 1], [True, False])],
        lambda: vmap(lambda x: x)(masked),
        lambda: grad(dnp.sum)(masked),
        lambda: make_jaxpr(dnp.sin)(masked),
        lambda: eval_shape(dnp.sin, masked),
    ):
        with pytest.raises(ValueError, match="its mask would be lost"):
            call()
    assert dnp.array(masked).tolist() == [1.0, 2.0]
