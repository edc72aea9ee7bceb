"""Rules that are written with MLIR's Python bindings, beside those that name operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_backends import i64_array, lower_module, mlir_rule, stablehlo_rules
from dovetail_core import Primitive, RegistryError, ShapedArray
from dovetail_jit import jit, make_jaxpr
from dovetail_xla.loading import load

X = np.array([1, 2, 3, 4], np.float32)


def stablehlo() -> Any:
    return load("mlir.dialects.stablehlo")


def primitive(rule: Any, multiple: bool = False, type_rule: Any = None) -> Primitive:
    p = Primitive("test.bound", multiple_results=multiple, anonymous=True)
    p.def_abstract_eval(type_rule or (lambda x, **params: [x, x] if multiple else x))
    stablehlo_rules.register(p)(rule)
    return p


@mlir_rule
def shift(m: Any, x: Any, *, by: int) -> Any:
    """Elements moved along."""
    zero = stablehlo().constant(load("mlir.ir").DenseElementsAttr.get(np.float32(0)))
    return stablehlo().pad(x, zero, [by], [-by], [0])


def shift_by_name(b: Any, x: Any, *, by: int) -> Any:
    sizes = {"edge_padding_low": [by], "edge_padding_high": [-by], "interior_padding": [0]}
    attributes = {name: i64_array(n) for name, n in sizes.items()}
    return b.op("stablehlo.pad", [x, b.constant(0, x.aval.update(shape=()))], b.out, attributes)


@pytest.mark.parametrize("by", [-5, -1, 0, 2])
def test_both_styles_agree(by: int) -> None:
    one, other = primitive(shift), primitive(shift_by_name)
    moved = [0] * by + [*X] + [0] * -by
    wanted = moved[-by:] if by < 0 else moved[:4]
    np.testing.assert_array_equal(one.bind(X, by=by), wanted)
    np.testing.assert_array_equal(jit(lambda x: one.bind(x, by=by))(X), wanted)
    np.testing.assert_array_equal(other.bind(X, by=by), wanted)


def test_the_rule_is_known_by_the_functions_name() -> None:
    assert shift.__name__ == "shift" and shift.__doc__ == "Elements moved along."


def test_a_rule_in_loops_and_derivatives_of_others() -> None:
    p = primitive(shift)

    def f(x: Any) -> Any:
        return lax.fori_loop(0, 3, lambda i, y: lax.add(y, p.bind(lax.stop_gradient(y), by=1)), x)

    np.testing.assert_array_equal(jit(f)(X), [1, 5, 12, 20])
    np.testing.assert_array_equal(grad(lambda x: f(x).sum())(X), np.ones(4))


def test_equal_functions_are_written_once() -> None:
    p = primitive(shift)
    program = make_jaxpr(lambda x: p.bind(p.bind(p.bind(x, by=1), by=1), by=2))(X)
    text = lower_module(program, "cpu", "f").text
    assert text.count("sym_name") == 2 and text.count("callee = @shift") == 3
    assert 'sym_name = "shift"' in text and 'sym_name = "shift_1"' in text


@pytest.mark.parametrize("as_what", [list, tuple])
def test_several_results(as_what: Any) -> None:
    p = primitive(mlir_rule(lambda m, x: as_what([x, stablehlo().negate(x)])), multiple=True)
    one, other = jit(lambda x: p.bind(x))(X)
    np.testing.assert_array_equal([one, other], [X, -X])


def test_an_operation_of_several_results() -> None:
    def rule(m: Any, x: Any) -> Any:
        return stablehlo().OptimizationBarrierOp([x, x])

    p = primitive(mlir_rule(rule), multiple=True)
    np.testing.assert_array_equal(np.asarray(p.bind(X)[1]), X)


def test_no_results() -> None:
    p = primitive(mlir_rule(lambda m, x: None), multiple=True, type_rule=lambda x: [])
    assert jit(lambda x: (p.bind(x), x)[1])(X).shape == (4,)


def test_what_the_function_gets() -> None:
    seen: list[Any] = []

    def rule(m: Any, x: Any) -> Any:
        ir = load("mlir.ir")
        assert ir.Context.current == m.context
        assert ir.InsertionPoint.current.block == m.insertion_point.block
        seen.append((m.platform, str(m.out), str(m.type(ShapedArray((), "bool"))), str(x.type)))
        return stablehlo().convert(m.outs[0], x)

    p = primitive(mlir_rule(rule), type_rule=lambda x: x.update(dtype=np.int32))
    lower_module(make_jaxpr(p.bind)(X), "tpu", "f")
    assert seen == [("tpu", "tensor<4xi32>", "tensor<i1>", "tensor<4xf32>")]


def test_a_part_of_a_rule_with_results_of_its_own_types() -> None:
    def rule(b: Any, x: Any) -> Any:
        whole = b.mlir(
            lambda m, x, *, twice: stablehlo().convert(m.out, stablehlo().add(x, x)),
            [x],
            [x.aval.update(dtype=np.int32)],
            twice=True,
        )
        return b.convert(whole, np.float32)

    np.testing.assert_array_equal(primitive(rule).bind(X + 0.3), [2, 4, 6, 8])


WRONG: dict[str, tuple[Any, str]] = {
    "type": (
        lambda m, x: stablehlo().convert(m.type(ShapedArray((4,), "int32")), x),
        r"returned \(tensor<4xi32>\), but the operation's results are \(tensor<4xf32>\)\. Make it",
    ),
    "number": (lambda m, x: [x, x], r"returned \(tensor<4xf32>, tensor<4xf32>\), but the opera"),
    "nothing": (lambda m, x: None, r"returned \(\), but the operation's results are"),
    "no value": (lambda m, x: 3, r"returned \(int\), but the operation's results are"),
    "invalid": (
        lambda m, x: load("mlir.ir").Operation.create("stablehlo.add", [m.out], [x]).result,
        r"built what is not valid: .*expected 2 operands, but found 1.*\. Correct it\.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("how", ["jit", "eager"])
def test_errors_name_the_function_its_place_and_the_users(case: str, how: str) -> None:
    function, said = WRONG[case]
    p = primitive(mlir_rule(function))
    run = p.bind if how == "eager" else jit(lambda x: p.bind(x))
    place = r"the MLIR function <lambda> \(.*test_lowering_bindings:\d+\), "
    user = r"called at .*test_lowering_bindings\.py:\d+ \(test_errors.*\), "
    with pytest.raises(RegistryError, match=rf"(?s)^{place}{user}{said}"):
        run(X)


def test_what_the_function_raises_is_passed_on_with_a_note() -> None:
    def fails(m: Any, x: Any) -> Any:
        raise LookupError("the reason")

    with pytest.raises(LookupError, match="the reason") as caught:
        jit(lambda x: primitive(mlir_rule(fails)).bind(x))(X)
    assert "the lowering of 'test.bound' at " in caught.value.__notes__[0]


def test_custom_calls() -> None:
    def rule(b: Any, x: Any) -> Any:
        return b.custom_call("acme_fn", [x], [b.out], {"fast": True}, effect=True)[0]

    text = lower_module(make_jaxpr(primitive(rule).bind)(X), "cpu", "f").text
    assert 'call_target_name = "acme_fn", api_version = 4 : i32' in text
    assert "backend_config = {fast = true}, has_side_effect = true" in text
    assert "operand_layouts = [dense<[0]> : tensor<1xindex>]" in text
