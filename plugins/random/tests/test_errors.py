"""Messages for bad arguments name the function, what it got and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_jit import jit

key: Any = random.key(0)
keys = random.split(key)
Call = Callable[[], Any]

KEYS: list[tuple[Call, type[Exception], str]] = [
    (
        lambda: random.normal(keys),
        ValueError,
        r"normal takes a single key, but .* of shape \(2,\).*Use dovetail.vmap",
    ),
    (lambda: random.split(keys), ValueError, r"split takes a single key, but .* shape \(2,\)"),
    (lambda: random.fold_in(keys, 1), ValueError, r"fold_in takes a single key"),
    (
        lambda: random.bits(dnp.zeros((3, 2), "uint32")),
        ValueError,
        r"bits takes a single key, but .* \(3,\)",
    ),
    (
        lambda: random.normal(0),
        TypeError,
        r"normal takes a key, got 0.*A raw key is a uint32 array whose last axis has length 2",
    ),
    (
        lambda: random.normal(None),
        TypeError,
        r"normal takes a key, got None.* dovetail.random.key\(seed\)",
    ),
    (
        lambda: random.normal(dnp.zeros(2)),
        TypeError,
        r"got an array of shape \(2,\) and dtype float32",
    ),
    (
        lambda: random.normal(dnp.zeros(3, "uint32")),
        TypeError,
        r"got an array of shape \(3,\) and dtype uint32",
    ),
    (lambda: random.key_data(3), TypeError, "key_data takes a key, got 3"),
    (
        lambda: random.wrap_key_data(key),
        TypeError,
        "wrap_key_data takes raw words of keys, got typed keys",
    ),
    (
        lambda: random.wrap_key_data(dnp.zeros((2, 3), "uint32")),
        TypeError,
        r"wrap_key_data .* shape \(2, 3\)",
    ),
    (
        lambda: random.wrap_key_data(dnp.zeros(2, "uint32"), impl="rbg"),
        TypeError,
        r"last axis has length 4 \(of 'rbg'\)",
    ),
    (lambda: random.key(1.5), TypeError, r"key: a seed is an integer, got 1.5 of type float"),
    (lambda: random.key("a"), TypeError, r"key: a seed is an integer, got 'a' of type str"),
    (lambda: random.PRNGKey(dnp.zeros(())), TypeError, "PRNGKey: a seed is an integer"),
    (
        lambda: random.key(dnp.arange(3)),
        TypeError,
        r"a seed is a scalar, got an array of shape \(3,\).*Use dovetail.vmap",
    ),
    (lambda: random.key(2**70), OverflowError, "does not fit into 64 bits"),
    (
        lambda: random.key(0, impl="foo"),
        ValueError,
        "no random bit generator 'foo'; known are .*'rbg', .*'threefry2x32'",
    ),
    (
        lambda: random.key(0, impl=3),
        TypeError,
        "given by its name or by the dtype of its keys, got 3",
    ),
    (
        lambda: random.key(0, impl="rbg", dtype=key.dtype),
        ValueError,
        "key: give impl or dtype, not both",
    ),
    (lambda: random.key(0, dtype=np.uint32), ValueError, "key: dtype must be a dtype of keys"),
    (
        lambda: random.fold_in(key, -1),
        OverflowError,
        "the integer -1 is not one of uint32.*Take its remainder",
    ),
    (
        lambda: random.fold_in(key, dnp.arange(2)),
        TypeError,
        r"fold_in takes a scalar as data, got an array of shape \(2,\)",
    ),
    (lambda: random.fold_in(key, "x"), TypeError, "fold_in takes a scalar as data, got 'x'"),
    (lambda: random.fold_in(key, key), TypeError, "fold_in takes a scalar as data"),
    (lambda: lax.select(True, key, 1.0), TypeError, r"one dtype, got f32\[\]~ and key<fry>\[\]"),
    (lambda: lax.pad(key[None], 1, [(0, 1, 0)]), TypeError, "key<fry> and a padding_value of d"),
    (lambda: lax.add(key, 1), TypeError, "lax.add does not accept an operand of dtype key<fry>"),
    (lambda: random.fold_in(key, np.dtype("int8")), TypeError, r"as data, got dtype\('int8'\)"),
    (
        lambda: random.split(key, -1),
        ValueError,
        r"split: dimensions of a shape cannot be negative, got \(-1,\)",
    ),
    (
        lambda: random.split(key, 2.0),
        TypeError,
        r"split: a shape is a sequence of integers, got \(2.0,\)",
    ),
]

ARRAYS: list[tuple[Call, type[Exception], str]] = [
    (lambda: len(key), TypeError, r"len\(\) of an array without dimensions"),
    (
        lambda: list(key),
        TypeError,
        r"iteration over an array without dimensions .*split\(key, n\) makes several",
    ),
    (lambda: bool(key), TypeError, "a key has no truth value"),
    (
        lambda: np.asarray(key),
        TypeError,
        r"cannot be converted to a NumPy array.*dovetail.random.key_data",
    ),
    (lambda: hash(key), TypeError, "unhashable type: 'KeyArray'"),
    (lambda: key + 1, TypeError, r"dtype key<fry> takes no part in type promotion .*split\(key, n"),
    (lambda: key + key, TypeError, r"add does not accept dtype key<fry> .*key_data\(key\) gives"),
    (lambda: dnp.sum(random.split(key)), TypeError, r"key<fry>.*key_data\(key\) gives the words"),
    (lambda: dnp.sort(random.split(key)), TypeError, r"key<fry>.*key_data\(key\) gives the words"),
    (lambda: key.astype("uint32"), ValueError, r"key<fry>.*key_data\(key\) gives the words"),
    (lambda: random.split(key).view("uint32"), TypeError, r"key<fry>"),
    (lambda: key == 1, TypeError, r"key<fry>.*key_data\(key\) gives the words"),
    (
        lambda: key == random.key(0, impl="rbg"),
        TypeError,
        "dtype key<(fry|rbg)> takes no part in type promotion",
    ),
    (lambda: key.dtype_of_nothing, AttributeError, "dtype_of_nothing"),
    (lambda: dnp.sin(key), TypeError, r"key<fry>.*key_data\(key\) gives the words"),
]

DRAWS: list[tuple[Call, type[Exception], str]] = [
    (
        lambda: random.normal(key, (-3,)),
        ValueError,
        r"normal: dimensions of a shape cannot be negative, got \(-3,\)",
    ),
    (
        lambda: random.normal(key, (3.5,)),
        TypeError,
        r"normal: a shape is a sequence of integers, got \(3.5,\)",
    ),
    (
        lambda: random.normal(key, dtype=int),
        ValueError,
        "normal: dtype must be a float or complex dtype, got int32",
    ),
    (
        lambda: random.uniform(key, dtype=complex),
        ValueError,
        "uniform: dtype must be a float dtype, got complex64",
    ),
    (
        lambda: random.uniform(key, (3,), minval=dnp.zeros(2)),
        ValueError,
        r"uniform: parameters of shape \(2,\) and \(\) do not broadcast to shape \(3,\)",
    ),
    (
        lambda: random.uniform(key, (3,), minval="a"),
        TypeError,
        "uniform takes arrays and numbers as parameters, got 'a' of type str",
    ),
    (
        lambda: random.bits(key, dtype=int),
        ValueError,
        "bits: dtype must be an unsigned integer dtype, got int32",
    ),
    (
        lambda: random.uniform(key, (3,), "float4_e2m1fn"),
        TypeError,
        "random numbers have 8, 16, 32 or 64 bits, those of dtype float4_e2m1fn have 4 .*astype",
    ),
    (
        lambda: random.randint(key, (3,), 0, 2, dtype=float),
        TypeError,
        "randint takes integer dtypes of 8, 16, 32 or 64 bits, got float32",
    ),
    (
        lambda: random.randint(key, (3,), 0, 2, dtype=bool),
        TypeError,
        "randint takes integer dtypes .* got bool",
    ),
    (
        lambda: random.randint(key, (3,), dnp.arange(2), 4),
        ValueError,
        "randint: parameters of shape",
    ),
    (
        lambda: random.randint(key, None, dnp.arange(2), dnp.arange(3)),
        ValueError,
        "do not broadcast to one shape",
    ),
    (
        lambda: random.bernoulli(key, 1),
        TypeError,
        "bernoulli: the probability p must be a floating-point number, got 1",
    ),
    (
        lambda: random.bernoulli(key, 0.5, mode="x"),
        ValueError,
        "bernoulli: mode must be 'low' or 'high', got 'x'",
    ),
    (
        lambda: random.gumbel(key, mode="x"),
        ValueError,
        "gumbel: mode must be 'low' or 'high' or 'highest', got 'x'",
    ),
    (
        lambda: random.categorical(key, dnp.ones(3), mode="x"),
        ValueError,
        "categorical: mode must be 'low' or 'high' or 'highest', got 'x'",
    ),
    (
        lambda: random.ball(key, 3, dnp.ones(2)),
        ValueError,
        r"ball: p must be one number, got an array of shape \(2,\).*Use dovetail.vmap",
    ),
    (lambda: random.ball(key, 3, "2"), TypeError, "ball takes arrays and numbers as parameters"),
    (
        lambda: random.permutation(key, 2.5),
        TypeError,
        "permutation takes an array or an integer, got 2.5 of type float",
    ),
    (
        lambda: random.permutation(key, 3, axis=1),
        ValueError,
        "permutation: axis 1 is out of bounds for an array of 1 dimensions",
    ),
    (
        lambda: random.permutation(key, dnp.arange(3), axis=1),
        ValueError,
        "permutation: axis 1 is out of bounds for an array of 1 dimensions",
    ),
    (lambda: random.choice(key, 0, (2,)), ValueError, "choice: there is nothing to draw from"),
    (
        lambda: random.choice(key, 3, (4,), replace=False),
        ValueError,
        "choice: 4 elements cannot be drawn from 3 without replacement",
    ),
    (
        lambda: random.choice(key, 3, p=dnp.ones(2)),
        ValueError,
        r"choice: p must have one probability for each of the 3 elements, got shape \(2,\)",
    ),
    (
        lambda: random.categorical(key, dnp.ones((2, 3)), shape=(3,)),
        ValueError,
        r"categorical: shape \(3,\) must end with .* without axis 1, \(2,\)",
    ),
    (
        lambda: random.categorical(key, dnp.ones(3), shape=(4,), replace=False),
        ValueError,
        "categorical: 4 indices cannot be drawn from 3 categories",
    ),
    (
        lambda: random.categorical(key, dnp.ones(3), axis=2),
        ValueError,
        "categorical: axis 2 is out of bounds",
    ),
    (lambda: random.dirichlet(key, 1.0), ValueError, "dirichlet: alpha needs at least one axis"),
    (lambda: random.multinomial(key, 3, 1.0), ValueError, "multinomial: p needs an axis"),
    (
        lambda: random.multivariate_normal(key, dnp.zeros(2), dnp.eye(3)),
        ValueError,
        r"mean of shape \(..., n\) .* got shapes \(2,\) and \(3, 3\)",
    ),
    (
        lambda: random.multivariate_normal(key, dnp.zeros(2), dnp.eye(2), method="x"),
        ValueError,
        "method must be 'cholesky', 'eigh' or 'svd', got 'x'",
    ),
    (
        lambda: random.poisson(random.key(0, impl="rbg"), 3.0),
        NotImplementedError,
        "poisson draws with keys of 'threefry2x32' only, got one of 'rbg'",
    ),
    (
        lambda: random.normal(key, out_sharding=object()),
        TypeError,
        "out_sharding must be a device or a sharding, got <object",
    ),
    (lambda: jit(lambda n: random.normal(key, (n,)))(3), TypeError, "not known while tracing"),
]


@pytest.mark.parametrize(("call", "error", "text"), KEYS + ARRAYS + DRAWS)
def test_message(call: Call, error: type[Exception], text: str) -> None:
    """Each bad argument has its message."""
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize("low, high", [(0, 10**30), (-(10**30), 5), (0, 2**32)])
def test_bounds_that_no_dtype_of_the_draw_holds(low, high):
    with pytest.raises(OverflowError, match=r"does not fit into int32 at .*test_errors"):
        random.randint(random.key(0), (2,), low, high)


def test_bounds_at_the_end_of_a_dtype_and_beyond_a_narrow_one():
    assert (random.randint(random.key(0), (9,), 2**31 - 1, 2**31) == 2**31 - 1).all()
    assert (random.randint(random.key(0), (9,), 255, 300, "uint8") == 255).all()


def test_a_choice_from_more_things_than_there_are_indices():
    with pytest.raises(OverflowError, match=r"does not fit into int32 at .*test_errors"):
        random.choice(random.key(0), 10**30)


def test_lists_are_neither_chosen_from_nor_permuted():
    for draw in (random.choice, random.permutation):
        with pytest.raises(
            TypeError, match=rf"{draw.__name__} takes an array or a number, got \[1,"
        ):
            draw(key, [1, 2])


def test_numbers_of_things_may_be_whole_floats_and_arrays():
    assert random.choice(key, 3.0) == random.choice(key, dnp.float32(3)) == random.choice(key, 3)
    for n in (np.array(3), dnp.array(3), np.int64(3)):
        assert random.split(key, n).shape == (3,)


def test_counts_of_a_floating_type_are_refused():
    for draw in (random.poisson, random.geometric):
        with pytest.raises(ValueError, match="takes integer dtypes"):
            draw(key, 0.5, dtype=float)


def test_complex_parameters_are_refused():
    for draw in (random.t, random.lognormal, random.pareto):
        with pytest.raises(ValueError, match="no imaginary part"):
            draw(random.key(0), 1j)


def test_shapes_that_do_not_broadcast_are_refused_as_other_operations_refuse_them() -> None:
    for error in (TypeError, ValueError):
        with pytest.raises(error, match=r"parameters of shape \(3,\) and \(\) do not broadcast"):
            random.uniform(key, (2,), minval=dnp.arange(3.0))
