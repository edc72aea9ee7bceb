"""Named operations, code by platform, and values that are kept in programs."""

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_core import UnexpectedTracerError
from dovetail_jit import jit, make_jaxpr

X = np.linspace(0.1, 1, 3, dtype=np.float32)


def scaled_tangent(x, *, factor=1, **attributes):
    return {"tan": dnp.sin(x) / dnp.cos(x) * factor}


def test_a_composite_is_its_decomposition_with_a_name():
    f = lax.composite(scaled_tangent, "acme.tangent", version=3)
    np.testing.assert_allclose(f(X, factor=2)["tan"], 2 * np.tan(X), rtol=1e-6)
    more = {
        "kind": "fast",
        "table": np.arange(3),
        "on": True,
        "none": None,
        "dtype": np.dtype("f4"),
    }
    called = jit(lambda x: f(x, factor=2, nested={"a": [1, 2.5]}, **more))
    text = called.lower(X).as_text()
    assert 'stablehlo.composite "acme.tangent"' in text
    for part in ("version = 3", "factor = 2", 'kind = "fast"', "dense<[0, 1, 2]>", "on = true",
                 "dtype = f32", "decomposition = @"):  # fmt: skip
        assert part in text
    assert "none" not in text


def test_transformations_go_through_the_decomposition():
    f = lax.composite(scaled_tangent, "acme.tangent")
    slope = grad(lambda x: f(x)["tan"])(np.float32(0.5))
    np.testing.assert_allclose(slope, 1 / np.cos(0.5) ** 2, rtol=1e-5)
    np.testing.assert_allclose(vmap(f)(X)["tan"], np.tan(X), rtol=1e-6)
    names = [e.primitive.name for e in make_jaxpr(vmap(f))(X).eqns]
    assert "composite" not in names


def test_what_a_composite_cannot_be():
    with pytest.raises(ValueError, match="a name is a string that is not empty, got ''"):
        lax.composite(scaled_tangent, "")
    with pytest.raises(TypeError, match="attribute kind of type object at"):
        lax.composite(scaled_tangent, "a")(X, kind=object())
    with pytest.raises(UnexpectedTracerError):
        jit(lambda y: lax.composite(lambda x: x + y, "a")(X))(1.0)
    with pytest.raises(TypeError, match="composite 'a' has effects"):
        lax.composite(lambda x: (lax.dce_sink(x), x)[1], "a")(X)


def by_platform(x, **more):
    return lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x * 2, **more)


def test_the_platform_chooses():
    for f in (by_platform, jit(by_platform)):
        np.testing.assert_array_equal(f(X), X + 1)
    other = lax.platform_dependent(X, cuda=lambda x: x + 1, default=lambda x: x * 2)
    np.testing.assert_array_equal(other, X * 2)
    np.testing.assert_array_equal(vmap(by_platform)(X), X + 1)
    assert grad(by_platform)(np.float32(3)) == 1
    assert jit(grad(by_platform))(np.float32(3)) == 1


def test_other_platforms_are_not_lowered():
    hopeless = lax.linalg.hessenberg  # has a kernel on the CPU alone
    matrix = np.eye(2, dtype=np.float32)

    def f(x):
        return lax.platform_dependent(x, cpu=lambda x: x, default=lambda x: hopeless(x)[0])

    text = jit(f).lower(matrix).as_text()
    assert "custom_call" not in text
    np.testing.assert_array_equal(f(matrix), matrix)


def test_what_platform_dependent_refuses():
    with pytest.raises(NotImplementedError, match="no branch for the platform 'cpu', only for"):
        lax.platform_dependent(X, gpu=lambda x: x)
    with pytest.raises(ValueError, match="platform_dependent needs a function at"):
        lax.platform_dependent(X)
    with pytest.raises(TypeError, match="platform_dependent: the branches' results"):
        lax.platform_dependent(X, cpu=lambda x: x, default=lambda x: x.astype(int))


def test_a_sink_keeps_what_computes_its_operand():
    def f(x):
        lax.dce_sink({"a": dnp.sin(x)}, prevent_mlir_dce=True)
        return x

    assert [e.primitive.name for e in make_jaxpr(f)(X).eqns] == ["sin", "dce_sink"]
    np.testing.assert_array_equal(jit(f)(X), X)
    np.testing.assert_array_equal(jit(vmap(f))(X), X)
    assert "optimization_barrier" in jit(f).lower(X).as_text()
    assert grad(lambda x: f(x) * 2)(1.0) == 2


def test_staged_values_belong_to_the_program():
    assert [e.primitive.name for e in make_jaxpr(lambda: lax.stage(1.0))().eqns] == ["stage"]
    assert isinstance(lax.stage(X), type(dnp.asarray(X)))
    assert grad(lambda x: lax.stage(x) * 3)(1.0) == 3


def test_broadcast_from_one_instance():
    result = vmap(lambda x: lax.pbroadcast((x, x * 2), "i", 1), axis_name="i")(X)
    np.testing.assert_array_equal(result[0], [X[1]] * 3)
    np.testing.assert_array_equal(result[1], [2 * X[1]] * 3)
    with pytest.raises(ValueError, match="source 3 is no position of an axis of length 3"):
        vmap(lambda x: lax.pbroadcast(x, "i", 3), axis_name="i")(X)
