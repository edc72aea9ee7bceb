"""Primitives whose lowering is written with MLIR's bindings, in JAX's form."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail_jax_names.modules.interpreters.mlir as mlir
from dovetail import lax, numpy as dnp
from dovetail_ad import jvp_rules
from dovetail_backends import stablehlo_rules
from dovetail_base.errors import MissingRule
from dovetail_batching import batch_rules
from dovetail_core import Primitive, RegistryError, ShapedArray
from dovetail_jax_names.lowering import contexts, programs
from dovetail_xla import mlir_functions as bindings

X = np.array([1, 2, 3], np.float32)
_number = count()


def primitive(
    rule: Any, multiple: bool = False, type_rule: Any = None, **options: Any
) -> Primitive:
    p = Primitive(f"test.jax_lowering_{next(_number)}", multiple_results=multiple)
    p.def_abstract_eval(type_rule or (lambda x, *xs, **params: [x, x] if multiple else x))
    mlir.register_lowering(p, rule, **options)
    return p


def hlo() -> Any:
    return bindings.dialect("stablehlo")


def func() -> Any:
    return bindings.dialect("func")


def run(p: Primitive, *args: Any, **params: Any) -> Any:
    return dovetail.jit(lambda *xs: p.bind(*xs, **params))(*args)


def text_of(p: Primitive, *args: Any, **params: Any) -> str:
    return dovetail.jit(lambda *xs: p.bind(*xs, **params)).lower(*args).as_text()


def _multiply_add(ctx: Any, x: Any, y: Any, z: Any) -> Any:
    return [hlo().AddOp(hlo().MulOp(x, y), z).result]


def test_the_rule_of_the_tutorial() -> None:
    p = primitive(_multiply_add)
    np.testing.assert_array_equal(run(p, X, X, X), X * X + X)
    np.testing.assert_array_equal(p.bind(X, X, X), X * X + X)
    assert "stablehlo.multiply" in text_of(p, X, X, X)


RESULTS = {
    "list": lambda ctx, x: [x],
    "tuple": lambda ctx, x: (x,),
    "value": lambda ctx, x: x,
    "operation": lambda ctx, x: hlo().AddOp(x, x),
    "results": lambda ctx, x: hlo().AddOp(x, x).results,
    "nested": lambda ctx, x: [(x,)],
    "operation in a list": lambda ctx, x: [hlo().AddOp(x, x)],
}  # fmt: skip


@pytest.mark.parametrize("form", RESULTS)
def test_forms_of_results(form: str) -> None:
    result = np.asarray(run(primitive(RESULTS[form]), X))
    assert result.tolist() in (X.tolist(), (2 * X).tolist())


def test_several_results() -> None:
    p = primitive(lambda ctx, x: [x, hlo().negate(x)], multiple=True)
    one, other = run(p, X)
    np.testing.assert_array_equal([one, other], [X, -X])


def test_a_rule_with_regions() -> None:
    def rule(ctx: Any, x: Any) -> Any:
        zero = mlir.ir_constant(np.float32(0))
        out = mlir.aval_to_ir_type(ctx.module_context, ctx.avals_out[0])
        op = hlo().ReduceOp([out], [x], [zero], mlir.dense_int_array([0]))
        block = op.regions[0].blocks.append(zero.type, zero.type)
        with mlir.ir.InsertionPoint(block):
            hlo().return_([hlo().add(*block.arguments)])
        return op.results

    p = primitive(rule, type_rule=lambda x: x.update(shape=()))
    assert run(p, X) == 6
    assert "stablehlo.reduce" in text_of(p, X)


def _helped(ctx: Any, x: Any, *, twice: bool) -> Any:
    with mlir.ir.InsertionPoint(ctx.module_context.module.body):
        kind = mlir.ir.FunctionType.get([x.type], [x.type])
        made = func().FuncOp("helper", kind, visibility="private")
    with mlir.ir.InsertionPoint(made.add_entry_block()):
        func().ReturnOp([hlo().negate(made.arguments[0])])
    ctx.module_context.symbol_table.insert(made)
    name = mlir.ir.FlatSymbolRefAttr.get(made.name.value)
    for _ in range(1 + twice):
        x = func().CallOp([x.type], name, [x]).results[0]
    return [x]


def test_functions_that_rules_add_come_along_once() -> None:
    p, other = primitive(_helped), primitive(_helped)

    def helper(x: Any) -> Any:
        return dnp.sin(x)

    def f(x: Any) -> Any:
        x = p.bind(p.bind(x, twice=False), twice=False)
        return dovetail.jit(helper)(other.bind(x, twice=True))

    np.testing.assert_allclose(dovetail.jit(f)(X), np.sin(X), rtol=1e-5)
    text = dovetail.jit(f).lower(X).as_text()
    assert text.count("func.func private @helper(") == 1
    assert text.count("stablehlo.negate") == 1
    assert text.count("func.func private @helper_1(") == 1  # the program's own


def test_helpers_of_one_name_that_differ() -> None:
    def rule(ctx: Any, x: Any, *, by: float) -> Any:
        with mlir.ir.InsertionPoint(ctx.module_context.module.body):
            made = func().FuncOp(
                "same", mlir.ir.FunctionType.get([x.type], [x.type]), visibility="private"
            )
        with mlir.ir.InsertionPoint(made.add_entry_block()):
            c = mlir.ir_constant(np.full(3, by, np.float32))
            func().ReturnOp([hlo().multiply(made.arguments[0], c)])
        return func().CallOp(made, [x]).results

    p = primitive(rule)
    result = dovetail.jit(lambda x: p.bind(p.bind(x, by=2.0), by=3.0))(X)
    np.testing.assert_array_equal(result, 6 * X)


def test_one_platform_only() -> None:
    p = primitive(lambda ctx, x: [hlo().negate(x)], platform="tpu")
    with pytest.raises(NotImplementedError, match=r"on platform 'cpu', but one for tpu at "):
        run(p, X)
    mlir.register_lowering(p, lambda ctx, x: [x])
    np.testing.assert_array_equal(run(p, X), X)
    mlir.register_lowering(p, lambda ctx, x: [hlo().add(x, x)], platform="cpu")
    np.testing.assert_array_equal(run(p, X), 2 * X)
    with pytest.raises(NotImplementedError, match=r"platform 'nowhere', which is unknown\. Platf"):
        mlir.register_lowering(p, lambda ctx, x: [x], platform="nowhere")


def test_a_primitive_of_others_keeps_its_rule_elsewhere() -> None:
    p = Primitive("test.jax_lowering_kept")
    p.def_abstract_eval(lambda x: x)
    stablehlo_rules.register(p)(lambda b, x: x)
    mlir.register_lowering(p, lambda ctx, x: [hlo().negate(x)], platform="gpu")
    np.testing.assert_array_equal(run(p, X), X)
    assert set(mlir._platform_specific_lowerings["cuda"]) >= {p}
    assert p not in mlir._platform_specific_lowerings["cpu"]


def test_with_other_rules_under_transformations() -> None:
    p = primitive(lambda ctx, x: [hlo().multiply(x, x)])
    jvp_rules.register(p)(
        lambda primals, tangents: (p.bind(*primals), tangents[0] * primals[0] * 2)
    )
    batch_rules.register(p)(lambda axis, args, dims: (p.bind(*args), dims[0]))
    np.testing.assert_array_equal(dovetail.vmap(p.bind)(X), X * X)
    result = dovetail.jit(dovetail.grad(lambda x: p.bind(x).sum()))(X)
    np.testing.assert_array_equal(result, 2 * X)
    looped = dovetail.jit(lambda x: lax.fori_loop(0, 2, lambda i, y: p.bind(y), x))
    np.testing.assert_array_equal(looped(X), X**4)


def test_a_rule_runs_once_per_program() -> None:
    runs: list[Any] = []

    def rule(ctx: Any, x: Any) -> Any:
        runs.append(ctx)
        return [x]

    f = dovetail.jit(primitive(rule).bind)
    f(X), f(X)
    assert len(runs) == 1


def test_the_context() -> None:
    seen: list[Any] = []

    def rule(ctx: Any, x: Any, **params: Any) -> Any:
        seen.append((ctx, params))
        return [x]

    p = primitive(rule)
    dovetail.jit(lambda x: dovetail.named_scope("here")(p.bind)(x, mode="a"))(X)
    (ctx, params) = seen[0]
    aval = ShapedArray((3,), np.float32)
    assert params == {"mode": "a"} and ctx.primitive is p
    assert (ctx.avals_in, list(ctx.avals_out)) == ((aval,), [aval])
    assert ctx.module_context.platforms == ("cpu",) and len(ctx.tokens_in) == 0
    assert str(ctx.name_stack).endswith("here")
    changed = ctx.replace(avals_out=None)
    assert changed.avals_out is None and changed.primitive is p
    assert ctx.module_context.get_backend().platform == "cpu"
    assert [ctx.module_context.new_channel() for _ in range(2)] == [1, 2]


def test_a_lowered_function_is_a_rule_that_needs_no_bindings() -> None:
    p = primitive(mlir.lower_fun(lambda x, *, by: dnp.sin(x) * by, multiple_results=False))
    np.testing.assert_allclose(run(p, X, by=2.0), 2 * np.sin(X), rtol=1e-6)
    q = primitive(mlir.lower_fun(lambda x: [x, -x]), multiple=True)
    np.testing.assert_array_equal(run(q, X)[1], -X)
    assert stablehlo_rules.declares(p)
    with pytest.raises(MissingRule, match=r"table 'ad\.jvp' has no rule"):
        dovetail.grad(lambda x: p.bind(x, by=1.0).sum())(X)  # it is no decomposition


def test_programs_and_functions_within_a_rule() -> None:
    program = dovetail.make_jaxpr(lambda x: (dnp.sin(x), x + np.arange(3, dtype=np.float32)))(X)

    def rule(ctx: Any, x: Any) -> Any:
        consts = [mlir.ir_constant(c) for c in program.consts]
        module = ctx.module_context
        (a, b), tokens = mlir.jaxpr_subcomp(
            module, program.jaxpr, ctx.name_stack, mlir.TokenSet(), consts, x,
            dim_var_values=(), const_lowering={}, outer_traceback=None,
        )  # fmt: skip
        (c, _) = mlir.core_call_lowering(ctx, x, name="part", call_jaxpr=program)
        (d,) = mlir.lower_fun(dnp.cos, multiple_results=False)(ctx, x)
        (e,) = partial(mlir.lower_fun(lambda x, by: [x * by]), by=2.0)(ctx, x)
        (f,) = mlir._lowerings[lax.neg_p].rule(ctx.replace(primitive=lax.neg_p), x)
        made = mlir.lower_jaxpr_to_fun(module, "whole", program, [], num_const_args=0)
        assert made.name.value == "whole" and len(tokens) == 0
        return [a, b, c, d, e, f]

    p = primitive(rule, multiple=True, type_rule=lambda x: [x] * 6)
    result = run(p, X)
    wanted = [np.sin(X), X + np.arange(3), np.sin(X), np.cos(X), 2 * X, -X]
    for x, y in zip(result, wanted):
        np.testing.assert_allclose(x, y, rtol=1e-6)


def test_python_functions() -> None:
    kept = object()

    def rule(ctx: Any, x: Any) -> Any:
        result, token, keepalive = mlir.emit_python_callback(
            ctx, lambda a: (np.asarray(a) * 2,), None, [x], ctx.avals_in, ctx.avals_out,
            has_side_effect=False, sharding=None,
        )  # fmt: skip
        ctx.module_context.add_keepalive(keepalive)
        ctx.module_context.add_keepalive(kept)
        assert token is None
        return result

    p = primitive(rule)
    np.testing.assert_array_equal(dovetail.jit(lambda x: p.bind(p.bind(x)))(X), 4 * X)


def test_ordered_effects() -> None:
    from dovetail_core import OrderedIOEffect

    effect, said = OrderedIOEffect(), []

    def rule(ctx: Any, x: Any, *, name: str) -> Any:
        def say(a: Any) -> tuple[Any]:
            said.append(name)
            return (np.asarray(a),)

        result, token, _ = mlir.emit_python_callback(
            ctx, say, ctx.tokens_in.get(effect), [x], ctx.avals_in, ctx.avals_out,
            has_side_effect=True,
        )  # fmt: skip
        ctx.set_tokens_out(mlir.TokenSet({effect: token}))
        return result

    p = primitive(rule)
    p.def_effectful_abstract_eval(lambda x, name: (x, {effect}))

    def f(x: Any) -> Any:
        p.bind(x * 3, name="first")
        lax.fori_loop(0, 2, lambda i, y: p.bind(y, name="loop"), x)
        return p.bind(x, name="last")

    dovetail.block_until_ready(dovetail.jit(f)(X))
    assert said == ["first", "loop", "loop", "last"]


def test_views() -> None:
    entry = mlir._lowerings[p := primitive(_multiply_add)]
    assert entry.rule is _multiply_add and entry.inline and p in mlir._lowerings
    mlir._lowerings[p] = lambda ctx, *xs: [xs[0]]
    np.testing.assert_array_equal(run(p, X, X, X), X)
    del mlir._lowerings[p]
    assert p not in mlir._lowerings
    with pytest.raises(NotImplementedError):
        run(p, X, X, X)
    assert lax.sin_p in mlir._lowerings and len(mlir._lowerings) > 100


WRONG: dict[str, tuple[Any, str]] = {
    "number": (lambda ctx, x: [x, x], r"returned \(tensor<3xf32>, tensor<3xf32>\), but the oper"),
    "none": (lambda ctx, x: None, r"returned \(\), but the operation's results are \(tensor<3xf"),
    "no value": (lambda ctx, x: [3], r"returned \(int\), but the operation's results are"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_errors_name_the_rule_and_its_place(case: str) -> None:
    rule, said = WRONG[case]
    place = r"the MLIR function <lambda> \(.*test_lowering_in_jaxs_form:\d+\), called at .*"
    with pytest.raises(RegistryError, match=rf"(?s){place}{said}"):
        run(primitive(rule), X)


def test_modules() -> None:
    program = dovetail.make_jaxpr(lambda x: dnp.sin(x) + 1)(X)
    result = mlir.lower_jaxpr_to_module(
        "named", program, num_const_args=0, in_avals=program.in_avals, ordered_effects=[],
        platforms=("cpu",), backend=None, axis_context=mlir.ShardingContext(1),
        donated_args=(False,), lowering_parameters=mlir.LoweringParameters(),
    )  # fmt: skip
    text = mlir.module_to_string(result.module)
    assert "module @named" in text and "stablehlo.sine" in text
    assert mlir.module_to_bytecode(result.module)[:4] == b"ML\xefR"
    with mlir.make_ir_context() as context:
        one, other = (mlir.ir.Module.parse(text, context) for _ in range(2))
    assert mlir.merge_mlir_modules(one, "main", other) == "main_0"
    assert "func.func private @main_0" in str(one)


def test_a_module_of_ones_own() -> None:
    with mlir.make_ir_context() as context:
        ctx = mlir.ModuleContext(
            platforms=("cpu",), backend=None, axis_context=mlir.ShardingContext(1), keepalives=[],
            channel_iterator=count(1), host_callbacks=[], context=context,
            lowering_parameters=mlir.LoweringParameters(),
        )  # fmt: skip
        program = dovetail.make_jaxpr(dnp.tanh)(X)
        with mlir.ir.Location.unknown(context):
            mlir.lower_jaxpr_to_fun(ctx, "main", program, main_function=True)
        assert "func.func public @main" in str(ctx.module)
        assert ctx.replace(platforms=("tpu",)).platforms == ("tpu",)
        assert ctx.get_backend(optional=True) is None


def test_types_constants_and_attributes() -> None:
    class Mine:
        pass

    mlir.register_constant_handler(Mine, lambda value, aval: mlir.ir_constant(np.float32(7)))
    with mlir.make_ir_context() as context, mlir.ir.Location.unknown(context):
        module = mlir.ir.Module.create()
        with mlir.ir.InsertionPoint(module.body):
            _check_constants(Mine())
            _check_attributes()


def _check_constants(mine: Any) -> None:
    import ml_dtypes

    for value, text in [
        (1, "dense<1> : tensor<i32>"),
        (np.float64(2), "dense<2.000000e+00> : tensor<f64>"),
        (np.array([True, False]), "dense<[true, false]> : tensor<2xi1>"),
        (np.array([[True], [False]]), "dense<[[true], [false]]> : tensor<2x1xi1>"),
        (np.array(1, ml_dtypes.bfloat16), "dense<1.000000e+00> : tensor<bf16>"),
        (np.array([1j]), "dense<(0.000000e+00,1.000000e+00)> : tensor<1xcomplex<f64>>"),
        (np.zeros((0,), np.float32), "dense<> : tensor<0xf32>"),
        (np.arange(4.0).reshape(2, 2).T, "[[0.000000e+00, 2.000000e+00], [1.000000e+00, 3.00000"),
        (dnp.arange(2), "dense<[0, 1]> : tensor<2xi32>"),
        (np.zeros((), dovetail.dtypes.float0), "dense<false> : tensor<i1>"),
        (mine, "dense<7.000000e+00> : tensor<f32>"),
    ]:
        assert text in str(mlir.ir_constant(value))
    assert "tensor<f32>" in str(mlir.ir_constant(1, aval=ShapedArray((), np.float32)))
    with pytest.raises(TypeError, match="a value of type str is no constant: 'a'"):
        mlir.ir_constant("a")
    with pytest.raises(TypeError, match="is made of 2 arrays: use ir_constants"):
        mlir.ir_constant(dovetail.random.key(0))
    assert len(mlir.ir_constants(dovetail.random.key(0))) == 2


def _check_attributes() -> None:
    for value, text in [
        (1, "1 : i64"), (1.5, "1.500000e+00 : f64"), (True, "true"), ("a", '"a"'),
        ([1, "b"], '[1, "b"]'), ({"a": [True]}, "{a = [true]}"),
        (np.float32(2), "2.000000e+00 : f32"),
        (np.int8(3), "3 : i8"), (np.arange(3), "dense<[0, 1, 2]> : tensor<3xi64>"),
        (np.dtype("float32"), "f32"), (mlir.i32_attr(3), "3 : i32"), (mlir.i64_attr(4), "4 : i64"),
        (mlir.dense_int_array([1, 2]), "array<i64: 1, 2>"),
        (mlir.dense_int_elements([1, 2]), "dense<[1, 2]> : tensor<2xi64>"),
    ]:  # fmt: skip
        assert str(mlir.ir_attribute(value)) == text
    with pytest.raises(TypeError, match="there is no MLIR attribute for None of type NoneType"):
        mlir.ir_attribute(None)
    types = mlir.aval_to_ir_types(None, ShapedArray((2,), np.int8))
    assert [str(t) for t in types] == ["tensor<2xi8>"]
    assert str(mlir.dtype_to_ir_type(np.dtype("complex64"))) == "complex<f32>"
    assert str(mlir.token_type()) == "!stablehlo.token"
    with pytest.raises(TypeError, match="there is no MLIR type for 3 of type int"):
        mlir.aval_to_ir_type(None, 3)
    assert str(mlir.shape_tensor(None, [1, 2]).type) == "tensor<2xi32>"
    x = mlir.ir_constant(1)
    assert mlir.flatten_ir_values([x, (x, [x])]) == [x, x, x]
    assert mlir.flatten_ir_types([x.type, (x.type,)]) == [x.type, x.type]
    assert mlir.unflatten_ir_values_like_types([x, x], [x.type, (x.type,)]) == [x, (x,)]
    assert mlir.ir_tree_registry.flatten([x, (x, x)])[0] == [x, x, x]


def test_effects_that_can_be_lowered() -> None:
    class Mine:
        pass

    assert not mlir.lowerable_effects.contains(Mine)
    mlir.lowerable_effects.add_type(Mine)
    assert mlir.lowerable_effects.contains(Mine()) and mlir.lowerable_effects.filter_in([3]) == []
    assert contexts.lowerable_effects is mlir.lowerable_effects
    assert isinstance(mlir.lower_fun(dnp.sin), programs.LoweredFunction)


def test_names() -> None:
    from dovetail_jax_names import names

    for name in names.known()["jax.interpreters.mlir"]:
        assert hasattr(mlir, name), name
    assert "ir" in dir(mlir)
    with pytest.raises(AttributeError, match=r"'jax\.interpreters\.mlir' has no attribute 'nope'"):
        mlir.nope  # noqa: B018 - asking is what raises
