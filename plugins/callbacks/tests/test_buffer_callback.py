"""``experimental.buffer_callback``: functions that write to buffers of programs."""

from __future__ import annotations

import gc
import re

import numpy as np
import pytest

import dovetail
from dovetail import ShapeDtypeStruct, eval_shape, grad, jit, jvp, lax, numpy as dnp, vmap
from dovetail.experimental.buffer_callback import (
    Buffer,
    ExecutionContext,
    ExecutionStage,
    buffer_callback,
)
from dovetail_backends import evaluate

f32 = np.float32
X = np.array([0.5, -1.0, 2.0], f32)
TYPE = ShapeDtypeStruct((3,), f32)


def double(ctx, out, x):
    np.asarray(out)[...] = 2 * np.asarray(x)


def add(ctx, out, x, y):
    np.asarray(out)[...] = np.asarray(x) + np.asarray(y)


def test_values_eager_and_compiled():
    for f in (buffer_callback(double, TYPE), jit(buffer_callback(double, TYPE))):
        np.testing.assert_array_equal(f(X), 2 * X)
        np.testing.assert_array_equal(f(dnp.asarray(X)), 2 * X)
    assert eval_shape(buffer_callback(double, TYPE), X) == TYPE


def test_what_the_function_gets():
    seen = []

    def f(ctx, out, x, *, y):
        seen.append((ctx.stage, isinstance(ctx, ExecutionContext)))
        for b in (x["a"], y, *out):
            assert isinstance(b, Buffer)
            seen.append((b.shape, b.dtype, b.ndim, b.writeable))
        np.asarray(out[0])[...] = np.asarray(x["a"])
        np.from_dlpack(y)  # which other libraries take, too
        np.asarray(out[1])[...] = np.asarray(y) + 1

    types = (ShapeDtypeStruct((2, 3), np.int32), ShapeDtypeStruct((), f32))
    a = np.arange(6, dtype=np.int32).reshape(2, 3)
    p, q = jit(buffer_callback(f, types))({"a": a}, y=f32(1.5))
    np.testing.assert_array_equal(p, a)
    assert q == 2.5
    i32 = np.dtype(np.int32)
    assert seen == [
        (ExecutionStage.EXECUTE, True), ((2, 3), i32, 2, False), ((), f32, 0, False),
        ((2, 3), i32, 2, True), ((), f32, 0, True),
    ]  # fmt: skip


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "complex64", "uint8"])
def test_types(dtype):
    x = dnp.arange(4).astype(dtype)
    result = buffer_callback(double, ShapeDtypeStruct((4,), x.dtype))(x)
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(np.asarray(result), np.asarray(x) * np.asarray(2, x.dtype))


def test_empty_and_absent_arrays():
    def three(ctx, out):
        np.asarray(out)[...] = 3

    assert buffer_callback(double, ShapeDtypeStruct((0, 2), f32))(dnp.ones((0, 2))).shape == (0, 2)
    np.testing.assert_array_equal(jit(buffer_callback(three, TYPE))(), [3, 3, 3])


def test_in_control_flow():
    f = buffer_callback(double, TYPE)
    np.testing.assert_array_equal(lax.fori_loop(0, 5, lambda i, x: f(x), X), 32 * X)
    pick = jit(lambda b, x: lax.cond(b, f, lambda x: x, x))
    np.testing.assert_array_equal([pick(True, X), pick(False, X)], [2 * X, X])


def test_side_effects():
    seen = []

    def note(ctx, out, x):
        seen.append(np.asarray(x).copy())

    def program(x, **options):
        buffer_callback(note, (), **options)(x)
        return x + 1

    jit(program)(X).block_until_ready()
    assert seen == []  # nobody needs what it computes
    jit(lambda x: program(x, has_side_effect=True))(X).block_until_ready()
    dovetail.effects_barrier()
    np.testing.assert_array_equal(seen, [X])
    seen.clear()
    mapped = buffer_callback(note, (), has_side_effect=True, vmap_method="sequential")
    jit(vmap(lambda x: (mapped(x), x)[1]))(np.stack([X, -X])).block_until_ready()
    dovetail.effects_barrier()
    np.testing.assert_array_equal(seen, [X, -X])


@pytest.mark.parametrize(
    ("method", "shapes"),
    [("sequential", [(3,), (3,)]), ("sequential_unrolled", [(3,), (3,)]),
     ("expand_dims", [(2, 3), (1, 3)]), ("broadcast_all", [(2, 3), (2, 3)]),
     ("legacy_vectorized", [(2, 3), (3,)])],
)  # fmt: skip
def test_vmap(method, shapes):
    seen = []

    def f(ctx, out, x, y):
        seen.append([x.shape, y.shape])
        add(ctx, out, x, y)

    xs = np.stack([X, 10 * X])
    call = vmap(buffer_callback(f, TYPE, vmap_method=method), (0, None))
    np.testing.assert_array_equal(jit(call)(xs, X), xs + X)
    assert seen == [shapes] * (2 if "sequential" in method else 1)
    if method != "legacy_vectorized":  # which cannot tell one mapped axis from the other
        np.testing.assert_array_equal(jit(vmap(call, (None, 0)))(xs, xs), xs[None] + xs[:, None])


def test_vmap_needs_a_method():
    with pytest.raises(NotImplementedError) as e:
        vmap(buffer_callback(double, TYPE))(np.ones((2, 3), f32))
    assert re.match(
        r"buffer_callback of double at \S+ \(.*\) is mapped by vmap, and does not say how. Pass "
        r"vmap_method='sequential'", str(e.value),
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"double at .*vmap_method='rows' is unknown. It may be"):
        buffer_callback(double, TYPE, vmap_method="rows")


def increment(ctx, out, x):
    a = np.asarray(out)
    assert np.shares_memory(a, np.asarray(x))
    a += 1


def test_results_in_the_place_of_arguments():
    f = buffer_callback(increment, TYPE, input_output_aliases={0: 0}, vmap_method="expand_dims")
    x = dnp.asarray(X)
    for g in (f, jit(f)):
        np.testing.assert_array_equal(g(x), X + 1)
        np.testing.assert_array_equal(x, X)  # the program has a copy
    np.testing.assert_array_equal(jit(lambda x: f(f(x * 2)) + x)(X), 3 * X + 2)
    np.testing.assert_array_equal(jit(vmap(f))(np.stack([X, -X])), np.stack([X, -X]) + 1)


def test_one_of_several_results_in_the_place_of_an_argument():
    def f(ctx, out, x, y):
        np.asarray(out[0])[...] = np.asarray(x)
        increment(ctx, out[1], y)

    def call(method):
        aliases = {1: 1}
        return buffer_callback(f, (TYPE, TYPE), input_output_aliases=aliases, vmap_method=method)

    np.testing.assert_array_equal(jit(call(None))(X, 2 * X), [X, 2 * X + 1])
    p, q = jit(vmap(call("expand_dims"), (0, None)))(np.stack([X, -X]), X)
    np.testing.assert_array_equal(p, [X, -X])
    np.testing.assert_array_equal(q, [X + 1, X + 1])  # an argument that is not mapped is repeated


@pytest.mark.parametrize(
    ("aliases", "text"),
    [({0: 3}, r"has {0: 3}, and there is no result 3. .* there are 1 results."),
     ({4: 0}, r"has {4: 0}, and there is no argument 4. .* there are 2 arguments."),
     ({1: 0}, r"has {1: 0}, but the argument is i(32|64)\[3\] and the result f32\[3\]. Only")],
)  # fmt: skip
def test_aliases_that_cannot_be(aliases, text):
    f = buffer_callback(add, TYPE, input_output_aliases=aliases)
    with pytest.raises(ValueError, match=rf"buffer_callback of add at .* \(.*\): .*{text}"):
        f(X, np.arange(3))


class Own(Exception):
    pass


def test_exceptions_arrive_as_themselves():
    def fails(ctx, out, x):
        raise Own("no")

    for f in (buffer_callback(fails, TYPE), jit(buffer_callback(fails, TYPE))):
        with pytest.raises(Own, match=r"^no$"):
            np.asarray(f(X))
    gc.collect()


def test_functions_return_nothing():
    f = buffer_callback(lambda ctx, out, x: np.asarray(x), TYPE)
    with pytest.raises(TypeError, match=r"returned a ndarray, but its results .* Return None."):
        np.asarray(f(X))


def test_wrong_arguments():
    with pytest.raises(TypeError, match="buffer_callback takes a function, got 3 of type int"):
        buffer_callback(3, TYPE)
    with pytest.raises(TypeError, match="result_shape_dtypes must be a pytree of values"):
        buffer_callback(double, 3)
    with pytest.raises(TypeError, match=r"buffer_callback of double: args\[0\]"):
        buffer_callback(double, TYPE)("a")


def test_elements_smaller_than_a_byte_are_refused():
    x = dnp.arange(4).astype("int4")
    for args, result in (([x], TYPE), ([X], ShapeDtypeStruct((4,), x.dtype))):
        with pytest.raises(TypeError, match=r"of double at .*: arrays of int4 have several elem"):
            buffer_callback(double, result)(*args)


def test_numpy_alone_has_no_buffers():
    f = dovetail.make_jaxpr(buffer_callback(double, TYPE))(X)
    with pytest.raises(NotImplementedError, match=r"of double at .* is evaluated with NumPy"):
        evaluate(f, X)


def test_there_is_no_derivative():
    f = buffer_callback(double, TYPE)
    for differentiate in (lambda: grad(lambda x: f(x).sum())(X), lambda: jvp(f, (X,), (X,))):
        with pytest.raises(ValueError, match="the derivative of a Python function is not known"):
            differentiate()


def test_lowering_for_gpus():
    f = buffer_callback(increment, TYPE, input_output_aliases={0: 0})
    text = jit(f).trace(X).lower(lowering_platforms=("cuda",)).as_text()
    assert "xla_buffer_python_gpu_callback" in text and "operand_index = 0" in text
    recorded = buffer_callback(double, TYPE, command_buffer_compatible=True)
    text = jit(recorded).trace(X).lower(lowering_platforms=("cuda",)).as_text()
    assert "xla_buffer_python_gpu_callback_cmd_buffer" in text
    assert "cmd_buffer" not in jit(recorded).lower(X).as_text()
