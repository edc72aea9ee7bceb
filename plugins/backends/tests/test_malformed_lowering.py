"""Lowerings that are wrong or missing: errors name the primitive, the user's line and the rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_backends import evaluate, stablehlo_rules
from dovetail_core import MissingRule, Primitive, RegistryError, ShapedArray
from dovetail_jit import jit, make_jaxpr

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
LINE = r"at .*test_malformed_lowering\.py:\d+ \(program\)"
RULE = r"\(the rule at .*test_malformed_lowering:\d+\)"


def broken(rule: Callable[..., Any] | None, multiple: bool = False) -> Primitive:
    """A primitive of one operand and one result of its type, with ``rule`` as its lowering."""
    p = Primitive("test.broken", multiple_results=multiple, anonymous=True)
    p.def_abstract_eval((lambda x: [x]) if multiple else (lambda x: x))
    if rule is not None:
        stablehlo_rules.register(p)(rule)
    return p


def program(p: Primitive, x: Any) -> Any:
    result = p.bind(lax.sin(x))
    return lax.cos(result[0] if p.multiple_results else result)


INVALID = {
    "unknown operation": (
        lambda b, x: b.op("stablehlo.nothing", [x], b.out), "unregistered operation 'stablehlo.no"
    ),
    "syntax": (
        lambda b, x: b.op("stablehlo.sine", [x], b.out, "attr = = 3"), "expected attribute value"
    ),
    "verifier": (
        lambda b, x: b.op("stablehlo.reshape", [b.op("stablehlo.add", [x], b.out)], b.out),
        "expected 2 operands, but found 1",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", INVALID)
@pytest.mark.parametrize("how", ["jit", "eager", "lowered"])
def test_what_mlir_refuses_is_blamed_on_an_operation(case: str, how: str) -> None:
    rule, complaint = INVALID[case]
    p = broken(rule)
    said = (
        rf"(?s)is not valid StableHLO, because of the lowering of 'test\.broken' {LINE} {RULE}, "
        rf"which emits '%.*{complaint}.*Correct the rule \(table 'backends\.stablehlo'\)"
    )
    run: dict[str, Callable[[], Any]] = {
        "jit": lambda: jit(lambda x: program(p, x))(X),
        "eager": lambda: program(p, X),
        "lowered": lambda: jit(lambda x: program(p, x)).lower(X).compile(),
    }
    with pytest.raises(RegistryError, match=said):
        run[how]()


def test_the_operation_is_found_inside_of_loops_and_calls() -> None:
    p = broken(INVALID["syntax"][0])

    def step(c: Any, x: Any) -> Any:
        return lax.add(c, jit(lambda x: program(p, x))(x)), lax.sin(x)

    with pytest.raises(RegistryError, match=rf"because of the lowering of 'test\.broken' {LINE}"):
        jit(lambda x: lax.scan(step, np.float32(0), x))(X)


WRONG: dict[str, tuple[Callable[..., Any], str]] = {
    "shape": (
        lambda b, x: b.op("stablehlo.sine", [x], ShapedArray((7,), np.float32)), "tensor<7xf32>"
    ),
    "dtype": (lambda b, x: b.convert(x, np.int32), "tensor<4xi32>"),
    "nothing": (lambda b, x: None, "NoneType"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_results_of_another_type_are_named(case: str) -> None:
    rule, got = WRONG[case]
    said = (
        rf"the lowering of 'test\.broken' {LINE} {RULE} returned \({got}\), but the operation's "
        r"results are \(tensor<4xf32>\)\. Make the rule return one value per result"
    )
    with pytest.raises(RegistryError, match=said):
        jit(lambda x: program(broken(rule), x))(X)


def test_too_few_results_are_named() -> None:
    p = broken(lambda b, x: [], multiple=True)
    with pytest.raises(RegistryError, match=rf"{LINE} {RULE} returned \(\), but .*tensor<4xf32>"):
        jit(lambda x: program(p, x))(X)


def test_what_a_rule_raises_is_passed_on_with_a_note() -> None:
    def fails(b: Any, x: Any) -> Any:
        raise LookupError("the reason")

    with pytest.raises(LookupError, match="the reason") as caught:
        jit(lambda x: program(broken(fails), x))(X)
    (note,) = caught.value.__notes__
    assert note.startswith("This was raised in the lowering of 'test.broken' at ")
    assert "test_malformed_lowering.py" in note


def test_a_failure_leaves_other_programs_alone() -> None:
    with pytest.raises(RegistryError):
        jit(lambda x: program(broken(INVALID["syntax"][0]), x))(X)
    np.testing.assert_allclose(jit(lambda x: lax.sin(x))(X), np.sin(X), rtol=1e-6)


# --- rules that are missing below one that was derived --------------------------------------------


def decomposed(p: Primitive) -> Primitive:
    outer = Primitive("test.outer", anonymous=True)
    outer.def_abstract_eval(lambda x: x)
    outer.def_decomposition(lambda x: p.bind(x))
    return outer


def test_a_missing_rule_names_the_primitives_that_asked_for_it() -> None:
    outer = decomposed(broken(None))
    said = (
        rf"table 'backends\.stablehlo' has no rule for primitive 'test\.broken' {LINE}.*"
        r"Used by the decomposition of 'test\.outer'\."
    )
    with pytest.raises(MissingRule, match=said):
        jit(lambda x: program(outer, x))(X)
    with pytest.raises(MissingRule, match=said.replace("stablehlo", "reference")):
        evaluate(make_jaxpr(lambda x: program(outer, x))(X), X)
