"""Lowering rules of platforms, beside the general one of all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as jnp
from dovetail_ad import grad
from dovetail_backends import Builder, MlirFunction, Val, stablehlo_rules
from dovetail_core import MissingRule, Primitive, RegistryError, RuleConflict
from dovetail_jit import jit
from dovetail_jit.options import interpret_first_calls

X = np.arange(3, dtype=np.float32)


def primitive(name: str = "test.by_platform") -> Primitive:
    p = Primitive(name)
    p.def_abstract_eval(lambda x: x)
    return p


def texts(f: Any, *platforms: str) -> list[str]:
    return [jit(f).trace(X).lower(lowering_platforms=(p,)).as_text() for p in platforms]


def test_each_platform_is_lowered_by_its_own_rule() -> None:
    p = primitive()
    stablehlo_rules.register(p)(lambda b, x: b.op("stablehlo.negate", [x], b.out))
    stablehlo_rules.register(p, platform="gpu")(lambda b, x: b.op("stablehlo.abs", [x], b.out))
    stablehlo_rules.register(p, platform="tpu")(lambda b, x: b.op("stablehlo.sine", [x], b.out))
    result = texts(p.bind, "cpu", "cuda", "rocm", "tpu")
    wanted = ("negate", "abs", "abs", "sine")
    assert all(f"stablehlo.{op} " in text for op, text in zip(wanted, result))
    np.testing.assert_array_equal(jit(p.bind)(X), -X)
    np.testing.assert_array_equal(p.bind(X), -X)


def test_a_platform_without_a_rule_says_which_have_one() -> None:
    p = primitive()
    stablehlo_rules.register(p, platform="tpu")(lambda b, x: x)
    said = (
        r"^table 'backends\.stablehlo' has no rule for primitive 'test\.by_platform' on platform "
        r"'cpu', but one for tpu at .*test_lowering_by_platform\.py"
    )
    with pytest.raises(MissingRule, match=said):
        jit(lambda x: p.bind(x))(X)
    stablehlo_rules.register(p, platform="cpu")(lambda b, x: x)
    np.testing.assert_array_equal(jit(lambda x: p.bind(x))(X), X)


def test_a_decomposition_serves_the_platforms_without_a_rule() -> None:
    p = primitive("test.doubled_by_platform")
    p.def_decomposition(lambda x: lax.mul(x, 2.0))
    stablehlo_rules.register(p, platform="tpu")(lambda b, x: b.op("stablehlo.add", [x, x], b.out))
    cpu, tpu = texts(lambda x: p.bind(x), "cpu", "tpu")
    assert "stablehlo.multiply" in cpu and "stablehlo.add" in tpu
    assert grad(lambda x: p.bind(x))(3.0) == 2.0


def test_a_wrong_rule_of_a_platform_is_named_by_its_place() -> None:
    p = primitive()
    stablehlo_rules.register(p)(lambda b, x: x)

    def wrong(b: Builder, x: Val) -> Val:
        return b.convert(x, np.int32)

    stablehlo_rules.set(p, wrong, platform="cpu")
    line = stablehlo_rules.platforms(p)["cpu"][1].line
    with pytest.raises(RegistryError, match=rf"the rule at .*:{line}\) returned \(tensor<3xi32>"):
        jit(lambda x: lax.add(p.bind(x), 1.0))(X)


def test_two_rules_of_one_platform_conflict_and_the_general_one_does_not() -> None:
    p = primitive()
    stablehlo_rules.register(p, platform="cuda")(lambda b, x: x)
    stablehlo_rules.register(p)(lambda b, x: x)
    with pytest.raises(RuleConflict, match=r"'test\.by_platform' for platform 'cuda': "):
        stablehlo_rules.register(p, platform="gpu")(lambda b, x: x)


@pytest.fixture
def negating_maximum() -> Iterator[None]:
    """The CPU has another lowering of ``max``, which others are made with, too."""

    def rule(b: Builder, x: Val, y: Val) -> Val:
        return b.op("stablehlo.not" if y.aval.dtype == bool else "stablehlo.negate", [y], b.out)

    stablehlo_rules.set(lax.max_p, rule, platform="cpu")
    yield
    stablehlo_rules.withdraw(lax.max_p, "cpu")


@pytest.mark.usefixtures("negating_maximum")
def test_whatever_stands_in_for_the_compiler_leaves_such_operations_to_it() -> None:
    x = jnp.asarray(X)
    with interpret_first_calls(4):
        for _ in range(8):
            np.testing.assert_array_equal(lax.max(x, x), -X)
    np.testing.assert_array_equal(jit(lax.max)(x, x), -X)
    # Rules that are made of others' are made of those of the platform.
    result = jit(lambda v: lax.clamp(False, v, True))(np.array([True, False]))
    np.testing.assert_array_equal(result, [False, True])


def test_it_is_gone_when_it_is_withdrawn() -> None:
    x = jnp.asarray(X)
    np.testing.assert_array_equal(lax.max(x, x), X)
    np.testing.assert_array_equal(jit(lax.max)(x, x), X)


def test_rules_with_mlirs_bindings_know_their_platform() -> None:
    p = primitive()

    def rule(b: Builder, x: Val) -> Any:
        def build(m: MlirFunction, value: Any) -> Any:
            return value

        assert b.platform == "cpu"
        return b.mlir(build, [x])

    stablehlo_rules.set(p, rule, platform="cpu")
    np.testing.assert_array_equal(jit(p.bind)(X), X)
