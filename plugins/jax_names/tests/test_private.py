"""Private names of JAX that libraries use: each does what the library that needs it relies on."""

from __future__ import annotations

import inspect
import sys
from collections import OrderedDict
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dovetail
import dovetail_jax_names.modules.interpreters.pxla as pxla
from dovetail import numpy as dnp
from dovetail_core import current_source
from dovetail_jax_names import names
from dovetail_jax_names.private import (
    api_util,
    compiler,
    core,
    dispatch,
    dtypes,
    earray,
    lib,
    literals,
    public_test_util,
    traceback_util,
    tree_util,
    xla_bridge,
)
from dovetail_jax_names.private.answers import (
    ad_util,
    checkify,
    distributed,
    flatten_util,
    interpreters_pxla as private_pxla,
    pjit,
    state_types,
)
from dovetail_tree.util import register_pytree_node_class, registry

PRIVATE = "It is private in JAX, and no library is known to need it: use a public name."


def test_each_module_answers_and_says_who_needs_it() -> None:
    for module in (
        ad_util, api_util, checkify, compiler, core, dispatch, distributed, dtypes, earray,
        flatten_util, lib, literals, pjit, public_test_util, traceback_util, tree_util, xla_bridge,
    ):  # fmt: skip
        path = module.__name__.rpartition(".")[2]
        assert names.load(names.home(f"jax._src.{path}")) is module
        assert module.__doc__ and f"jax._src.{path}``" in module.__doc__
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            module.nothing  # noqa: B018 - asking is what raises


def test_under_the_hook(python: Any) -> None:
    code = """
import jax
print(jax._src.tree_util.flatten_one_level({"a": 1}), jax._src.state.types.AbstractRef.__name__)
from jax._src.lib import xla_client
print(xla_client.XlaRuntimeError is jax.errors.JaxRuntimeError)
for module in ("jax._src.nowhere", "jax.lib.xla_bridge"):
    try:
        __import__(module)
    except ModuleNotFoundError as e:
        print(e)
try:
    jax._src.core.nothing
except AttributeError as e:
    print(e)
print(hasattr(jax.lib, "xla_extension"), hasattr(jax.interpreters.pxla, "shard_args"))
"""
    done = python("-c", "import dovetail.jax" + code)
    assert done.stdout.splitlines() == [
        "((1,), ('a',)) AbstractRef",
        "True",
        f"No module named 'jax._src.nowhere'. {PRIVATE}",
        "No module named 'jax.lib.xla_bridge'. JAX 0.10.2 has no public name jax.lib.xla_bridge.",
        f"module 'jax._src.core' has no attribute 'nothing'. {PRIVATE}",
        "False False",
    ], done.stderr


def test_lineax_names_the_primitive_of_stop_gradient() -> None:
    program = dovetail.make_jaxpr(dovetail.lax.stop_gradient)(1.0)
    assert program.eqns[0].primitive is ad_util.stop_gradient_p


@pytest.mark.parametrize(
    ("numbers", "given", "result"),
    [
        (None, None, ((), ())),
        (0, None, ((0,), ("a",))),
        ((1, 2), None, ((1, 2), ("b",))),
        (None, "b", ((1,), ("b",))),
        (None, ("a", "c"), ((0,), ("a", "c"))),
        (0, "c", ((0,), ("c",))),
        (5, None, ((5,), ())),
    ],
)
def test_e3nn_jax_infers_arguments(numbers: Any, given: Any, result: Any) -> None:
    def f(a: Any, b: Any, /, *args: Any, c: Any = None) -> None: ...

    def g(a: Any, b: Any, *args: Any, c: Any = None) -> None: ...

    assert api_util.infer_argnums_and_argnames(inspect.signature(g), numbers, given) == result
    assert api_util.infer_argnums_and_argnames(inspect.signature(f), 0, None) == ((0,), ())


def test_flax_builds_checkify_of_its_names() -> None:
    def f(x: Any) -> Any:
        dovetail.experimental.checkify.check(x > 0, "negative")
        return x

    error, out = checkify.checkify(f, checkify.user_checks)(-1.0)
    assert isinstance(error, checkify.Error) and out == -1
    result = error.get_exception()
    assert isinstance(result, checkify.JaxException) and "negative" in str(result)


def test_chex_restricts_backends(monkeypatch: Any) -> None:
    dnp.ones(3)
    seen: list[str] = []

    def refuse(backend: Any, *args: Any) -> None:
        seen.append(backend.platform)
        raise RuntimeError("forbidden")

    monkeypatch.setattr(compiler, "backend_compile_and_load", refuse)
    with pytest.raises(RuntimeError, match="forbidden"):
        dovetail.jit(lambda x: x * 17.25)(dnp.ones(3))
    assert seen == ["cpu"]
    monkeypatch.undo()
    assert dovetail.jit(lambda x: x * 17.25)(dnp.ones(3))[0] == 17.25


def test_chex_sees_whether_a_backend_started() -> None:
    dnp.ones(3)
    assert xla_bridge._backends["cpu"].platform == "cpu"


def test_numpyro_asks_whether_something_is_traced() -> None:
    assert core.trace_state_clean()
    assert not dovetail.jit(lambda x: x + core.trace_state_clean())(0)
    assert dovetail.eval_shape(lambda x: x, 1.0) is not None and core.trace_state_clean()


def test_dynamiqs_asks_for_a_known_value() -> None:
    assert core.concrete_or_error(None, 3) == 3
    assert core.concrete_or_error(int, np.float32(3.5)) == 3
    with pytest.raises(dovetail.errors.ConcretizationTypeError, match="The offsets must be known"):
        dovetail.jit(lambda x: core.concrete_or_error(None, x, "The offsets must be known."))(1)


def test_flax_makes_an_element_type() -> None:
    class Rules:
        @staticmethod
        def physical_element_aval(dtype: Any) -> Any:
            return core.ShapedArray((), np.float32)

    class Mine(dtypes.ExtendedDType):
        _rules = Rules
        type = dtypes.extended
        name = "mine"

    dtype = Mine()
    aval = core.ShapedArray((3,), dtype)
    x = earray.EArray(aval, dnp.arange(3.0))
    assert core.physical_aval(aval) == core.ShapedArray((3,), np.float32)
    assert core.physical_aval(core.physical_aval(aval)) == core.ShapedArray((3,), np.float32)
    assert dovetail.typeof(x) is aval and (x.shape, x.ndim, x.size, x.dtype) == ((3,), 1, 3, dtype)
    moved = dovetail.jit(lambda x: dovetail.lax.reshape(x, (3, 1)))(x)
    assert isinstance(moved, earray.EArray) and moved.block_until_ready().shape == (3, 1)
    assert dovetail.dtypes.issubdtype(dtype, dtypes.extended) and dtypes.DType is np.dtype
    assert repr(x).startswith("EArray(mine[3], Array([0., 1., 2.]")
    words = core.physical_aval(dovetail.typeof(dovetail.random.key(0)))
    assert words == core.ShapedArray((2,), np.uint32)


def test_flax_asks_about_element_types() -> None:
    assert dtypes.supports_inf(np.float32) and dtypes.supports_inf(ml_dtypes.float8_e5m2)
    assert not dtypes.supports_inf(ml_dtypes.float8_e4m3fn)
    assert dtypes.finfo(ml_dtypes.float8_e4m3fn).max == 448
    with pytest.raises(dtypes.TypePromotionError), dovetail.numpy_dtype_promotion("strict"):
        dnp.ones(3, "float32") + dnp.ones(3, "int32")


def test_flax_asks_how_results_become_arrays() -> None:
    x = dnp.arange(3.0)
    make = private_pxla.global_result_handlers[core.ShapedArray]
    np.testing.assert_array_equal(make(x.aval, x.sharding, True)([x]), x)
    with pytest.warns(DeprecationWarning, match=r"pxla\.global_avals_to_results_handler is depr"):
        handler = pxla.global_avals_to_results_handler([x.aval], [x.sharding], True)
    assert len(handler.handlers) == 1
    np.testing.assert_array_equal(handler([[x]])[0], x)


def test_blackjax_flattens() -> None:
    flat, back = flatten_util.ravel_pytree({"a": dnp.ones(2), "b": 3.0})
    assert flat.shape == (3,) and back(flat)["b"] == 3


def test_equinox_waits_for_effects() -> None:
    seen: list[int] = []
    dovetail.jit(lambda x: dovetail.debug.callback(lambda y: seen.append(int(y)), x))(3)
    dispatch.wait_for_tokens()
    assert seen == [3]


def test_orbax_asks_which_process_this_is() -> None:
    state = distributed.global_state
    assert (state.process_id, state.num_processes, state.client) == (0, 1, None)


def test_equinox_takes_arrays_of_its_own_kind() -> None:
    x = literals.TypedNdArray(np.arange(3), weak_type=True)
    assert (x.shape, x.ndim, x.size, x.dtype, x.weak_type) == ((3,), 1, 3, np.int64, True)
    np.testing.assert_array_equal(dnp.sin(x), dnp.sin(np.arange(3)))
    np.testing.assert_array_equal(np.asarray(x), np.arange(3))
    assert repr(x) == "TypedNdArray(array([0, 1, 2]), weak_type=True)"
    assert not isinstance(dnp.ones(3), literals.TypedNdArray)
    assert not hasattr(literals, "LiteralArray")


def test_flax_asks_for_references() -> None:
    x = dovetail.new_ref(dnp.ones(3))
    assert isinstance(dovetail.typeof(x), state_types.AbstractRef)


def test_libraries_hide_their_frames() -> None:
    frame = sys._getframe()
    assert traceback_util.include_frame(frame)
    traceback_util.register_exclusion(__file__)
    try:
        assert not traceback_util.include_frame(frame)
        source = current_source()
        assert source is None or source.filename != __file__
        assert __file__ in traceback_util._exclude_paths
    finally:
        traceback_util._exclude_paths.remove(__file__)
    assert traceback_util.include_frame(frame)
    assert traceback_util.api_boundary(len, repro_api_name="len")([1, 2]) == 2


def test_orbax_and_flax_ask_about_containers() -> None:
    assert tree_util.flatten_one_level([1, 2])[0] == [1, 2]
    with pytest.raises(ValueError, match="can't tree-flatten type"):
        tree_util.flatten_one_level(3)
    assert dict in tree_util._registry and int not in tree_util._registry
    assert tree_util.default_registry is registry


def test_jaxlie_takes_containers_apart_and_makes_them_again() -> None:
    @register_pytree_node_class
    class Pose:
        def __init__(self, x: Any, name: str) -> None:
            self.x, self.name = x, name

        def tree_flatten(self) -> Any:
            return (self.x,), self.name

        @classmethod
        def tree_unflatten(cls, aux: str, children: Any) -> Any:
            return cls(*children, aux)

    entry = tree_util._registry[Pose]
    children, aux = entry.to_iter(Pose([1, 2], "a"))
    made = entry.from_iter(aux, [3])
    assert list(children) == [[1, 2]] and (made.x, made.name) == (3, "a")
    for value in ((1, [2]), [1, 2], {"b": 1, "a": 2}, OrderedDict(b=1, a=2)):
        to_iter, from_iter = tree_util._registry[type(value)]
        children, aux = to_iter(value)
        assert from_iter(aux, children) == value
    assert Pose in list(tree_util._registry) and tree_util._registry.get(int) is None
    with pytest.raises(KeyError):
        tree_util._registry[int]


def test_numbers_that_have_a_dtype() -> None:
    for made, number, dtype in (
        (literals.TypedInt, 5, np.int32),
        (literals.TypedFloat, 2.5, np.float32),
        (literals.TypedComplex, 1j, np.complex64),
    ):
        result = made(number, dtype)
        assert result == number and result.dtype == dtype
        assert repr(result) == f"{made.__name__}({number}, dtype={result.dtype.name})"


def test_the_current_trace_and_what_tracers_stand_for() -> None:
    outer = core.trace_ctx.trace
    assert core.trace_ctx.is_top_level() and core.full_lower(3.0) == 3.0

    class Known(core.Tracer):
        def full_lower(self) -> Any:
            return 4.0

    assert core.full_lower(Known(outer, None)) == 4.0
    trace = core.Trace()
    assert trace.full_raise(2.0) == 2.0
    core.trace_ctx.set_trace(trace)
    try:
        assert core.trace_ctx.trace is trace and not core.trace_ctx.is_top_level()
    finally:
        core.trace_ctx.set_trace(outer)
    assert pjit.jit_p.name == "jit"


def test_public_names_are_found_where_jax_defines_them(python: Any) -> None:
    code = """
import jax
from jax._src.core import ClosedJaxpr, JaxprEqn, eval_jaxpr
from jax._src.tree_util import tree_map
from jax._src.public_test_util import check_grads
from jax._src.interpreters.partial_eval import dce_jaxpr
extended = jax.extend.core
print(ClosedJaxpr is extended.ClosedJaxpr, JaxprEqn is extended.JaxprEqn)
print(tree_map is jax.tree_util.tree_map, eval_jaxpr is jax.core.eval_jaxpr)
print(check_grads is jax.test_util.check_grads)
print(dce_jaxpr is jax.interpreters.partial_eval.dce_jaxpr)
from jax._src.core import pp_jaxpr
"""
    done = python("-c", "import dovetail.jax" + code)
    assert done.stdout.split() == ["True"] * 6
    assert f"'jax._src.core' has no attribute 'pp_jaxpr'. {PRIVATE}" in done.stderr


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [("f2", "c8"), ("f4", "c8"), ("f8", "c16"), ("i4", "c8"), ("i8", "c16"), ("c8", "c8"),
     ("c16", "c16"), ("?", "c8"), (ml_dtypes.bfloat16, "c8")],
)  # fmt: skip
def test_complex_types_of_parts(dtype: Any, expected: str) -> None:
    assert dtypes.to_complex_dtype(np.dtype(dtype)) == np.dtype(expected)


def test_trees_are_close() -> None:
    check = public_test_util.check_close
    check({"a": np.float32(1), "b": 2}, {"a": np.float32(1 + 5e-7), "b": 2})
    check(dnp.bfloat16(1.0), 1.005)
    check(1.0, 1.1, rtol=0.2)
    check(np.float32(1), np.float32(1.1), rtol={"float32": 0.2, np.float64: 0})
    for xs, ys in ((1, 2), (1.0, 1.1), ([1.0], (1.0,)), (np.zeros(2), np.zeros((2, 1)))):
        with pytest.raises(AssertionError):
            check(xs, ys)
    with pytest.raises(AssertionError, match="of the second kind"):
        check(np.float32(0), np.float32(1), err_msg="of the second kind")
