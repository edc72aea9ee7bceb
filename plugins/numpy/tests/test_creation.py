"""Making arrays: from values, filled, ranges, grids, matrices; also while tracing."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_core import enable_x64
from dovetail_jit import jit

CASES = """\
xp.zeros((2, 3))
xp.ones(2, np.int32)
xp.full((2, 3), f1[:3])
xp.full(2, True)
xp.zeros_like(f1)
xp.ones_like(i2, dtype=np.float32)
xp.full_like(i1, 2)
xp.zeros_like(f1, shape=(2,))
xp.eye(3)
xp.eye(2, 3, 1, np.int32)
xp.identity(2)
xp.tri(2, 4, 1)
xp.tril(f3, 1)
xp.triu(sq, -1)
xp.tril(b2)
xp.arange(5)
xp.arange(1, 10, 3)
xp.arange(5, 1, -1)
xp.arange(0, 1, 0.1)
xp.arange(3.0)
xp.linspace(0, 1, 5)
xp.linspace(0, 1, 5, endpoint=False)
xp.linspace(f2[0], f2[1], 4, axis=1)
xp.linspace(0, 10, 5, dtype=np.int32)
xp.linspace(0, 1, 3, retstep=True)
xp.logspace(0, 2, 3, base=2)
xp.geomspace(1, 1000, 4)
xp.geomspace(-1, -1000, 4, endpoint=False)
xp.diag(f1, 1)
xp.diag(f2, -1)
xp.diagflat(f2, 1)
xp.diagonal(f3, 1, 1, 2)
xp.diagonal(b2)
xp.trace(f3, axis1=1, axis2=2)
xp.vander(f1)
xp.vander(f1, 3, increasing=True)
xp.meshgrid(f1[:2], f1[:3])
xp.meshgrid(f1[:2], f1[:3], indexing='ij', sparse=True)
xp.indices((2, 3))
xp.asarray([[1, 2], [3, 4]])
xp.asarray([1, 2.5])
xp.asarray([True, False])
xp.asarray([])
xp.array([1, 2], ndmin=3)
xp.asarray(range(3))
xp.copy(f2)
xp.frombuffer(b'\\x01\\x02\\x03', dtype=np.uint8)
""".splitlines()


@pytest.mark.parametrize("case", CASES)
def test_functions_that_make_arrays(case, same_as_numpy):
    same_as_numpy(case, 1e-4)


@pytest.mark.parametrize("make", [
    lambda: dnp.zeros((2, 3)), lambda: dnp.full(3, 2.5), lambda: dnp.arange(2, 9, 3),
    lambda: dnp.arange(0, 1, 0.25), lambda: dnp.eye(2, 3, 1), lambda: dnp.tri(3, k=-1),
    lambda: dnp.linspace(0, 1, 4), lambda: dnp.asarray([1, 2.5]), lambda: dnp.asarray(2.5),
    lambda: dnp.indices((2, 2)), lambda: dnp.hamming(4), lambda: dnp.tril_indices(3)[0],
])  # fmt: skip
def test_constants_are_the_same_while_tracing(make, near):
    eager, traced = make(), jit(make)()
    assert eager.aval == traced.aval
    near(traced, np.asarray(eager))


def test_sequences_of_arrays_and_tracers_are_stacked(arrays, near):
    x = arrays["f1"]
    near(dnp.asarray([x, x]), np.stack([np.asarray(x)] * 2))
    near(jit(lambda v: dnp.asarray([[v[0], 1], [2, v[1]]]))(x),
         np.array([[x[0], 1], [2, x[1]]], np.float32))  # fmt: skip


def test_python_numbers_are_weakly_typed_and_follow_the_width():
    assert dnp.asarray(1).weak_type and dnp.full(2, 1.5).weak_type
    assert not dnp.asarray([1]).weak_type and not dnp.asarray(1, dtype="float32").weak_type
    with enable_x64(True):
        assert dnp.asarray(1.5).dtype == np.float64
        assert dnp.zeros(2).dtype == np.float64


def test_asarray_copies_numpy_memory():
    value = np.ones(64, np.float32)
    x = dnp.asarray(value)
    value[:] = 0
    assert x.sum() == 64


def test_copies_are_other_buffers():
    x = dnp.ones(64)
    y = dnp.array(x)
    assert y.unsafe_buffer_pointer() != x.unsafe_buffer_pointer()
    assert dnp.asarray(x) is x


def test_fromfunction_takes_functions_of_scalars(near):
    out = dnp.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype=int)
    near(out, np.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype=int))


def test_arrays_survive_a_file(tmp_path, near):
    x = dnp.arange(6.0).reshape(2, 3)
    dnp.save(tmp_path / "x.npy", x)
    near(dnp.load(tmp_path / "x.npy"), np.asarray(x))
    with pytest.raises(NotImplementedError, match=r"asarray\(numpy.fromfile"):
        dnp.fromfile(tmp_path / "x.npy")


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8", "bool", "complex64"])
def test_element_types_survive_a_file(tmp_path, dtype):
    x = dnp.arange(6).reshape(2, 3).astype(dtype)
    dnp.save(tmp_path / "x.npy", x)
    result = dnp.load(tmp_path / "x.npy")
    assert type(result) is type(x) and result.dtype == x.dtype and (result == x).all()


def test_what_is_no_array_of_numbers_is_loaded_as_numpy_does(tmp_path):
    # Of the narrow types a file says the size of an element, and no more.
    for x in (np.array(["a", "b"]), np.asarray(dnp.ones(2, "float8_e4m3fn"))):
        np.save(tmp_path / "x.npy", x)
        result = dnp.load(tmp_path / "x.npy")
        assert type(result) is np.ndarray and result.tobytes() == x.tobytes()
    dnp.savez(tmp_path / "x.npz", a=dnp.ones(2))
    assert dnp.load(tmp_path / "x.npz")["a"].tolist() == [1, 1]


@pytest.mark.parametrize(("call", "error", "text"), [
    (lambda: dnp.asarray(None), ValueError, "None is not a valid value"),
    (lambda: dnp.asarray("a"), TypeError, "'a' of type str is no array of numbers"),
    (lambda: dnp.asarray([1, "a"]), TypeError, "'a'"),
    (lambda: dnp.asarray([[1], [1, 2]]), ValueError, "is not rectangular"),
    (lambda: dnp.asarray([dnp.ones(2), dnp.ones(3)]), ValueError, "different shapes"),
    (lambda: dnp.asarray(2**40), OverflowError, "does not fit into int32"),
    (lambda: dnp.zeros((2, -1)), ValueError, r"zeros: dimensions.*negative, got \(2, -1\)"),
    (lambda: dnp.ones((2, "a")), TypeError, "ones: every dimension of a shape must be an integer"),
    (lambda: dnp.zeros(3, "foo"), TypeError, "foo"),
    (lambda: dnp.arange(0, 10, 0), ZeroDivisionError, "step must not be 0"),
    (lambda: jit(dnp.arange)(3), TypeError, "arange: start is a traced value.*static_argnums"),
    (lambda: dnp.linspace(0, 1, -1), ValueError, "num must not be negative"),
    (lambda: dnp.diag(dnp.ones((1, 1, 1))), ValueError, r"a vector or a matrix, got .*\(1, 1, 1\)"),
    (lambda: dnp.tril(dnp.ones(3)), ValueError, r"at least two dimensions, got .*\(3,\)"),
    (lambda: dnp.meshgrid(dnp.ones(2), indexing="zz"), ValueError, "must be 'xy' or 'ij'"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_counting_is_no_transfer():
    from dovetail_backends.guards import transfer_guard

    with transfer_guard("disallow"):
        assert dnp.arange(3).shape == dnp.arange(3.0).shape == (3,)
