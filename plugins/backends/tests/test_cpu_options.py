"""Which modules are compiled with which of XLA's options."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_backends import cpu_rules
from dovetail_backends.cpu import BACKEND
from dovetail_backends.cpu_rules import (
    BARRIERS,
    EMITTERS,
    PASSES,
    RULES,
    is_recurrent,
    is_small,
    options_for,
)
from dovetail_backends.pjrt.facts import ModuleFacts
from dovetail_core import config
from dovetail_jit import jit
from dovetail_lax import optimization_barrier, scan
from dovetail_testing import assert_close
from dovetail_tree import leaves
from dovetail_xla import options as xla_options
from dovetail_xla.options import LEVEL
from dovetail_xla.version import JAXLIB_VERSION

X = np.linspace(0.1, 1.0, 64, dtype=np.float32)
pytestmark = pytest.mark.usefixtures("optimized")


NEWEST = (0, 12, 0)
"""A version whose modules have options for speed alone."""
IN_FULL = {
    name: value
    for name, value in ((EMITTERS, True), (LEVEL, 3))
    if xla_options.option_exists(BACKEND.client, name)
}


def facts(f: Any, *args: Any) -> ModuleFacts:
    """The facts of a function's module."""
    return jit(f).lower(*args)._module.facts()


def options(result: ModuleFacts, exists: bool = True) -> Any:
    """Those for speed."""
    return options_for(result, lambda name: exists, NEWEST)


WITHOUT, FEWER = {EMITTERS: False}, {EMITTERS: False, LEVEL: 1}
SMALL = {
    "sum": (lambda x: x + 1.0, FEWER),
    "functions": (lambda x: dnp.tanh(dnp.exp(-x * x)) / dnp.sqrt(x), FEWER),
    "choice": (lambda x: dnp.where(x > 0.5, dnp.clip(x, 0.1, 0.9), -x), FEWER),
    "numbers": (lambda x: (x * 10).astype(np.int32) // 3, WITHOUT),
    "moved": (lambda x: dnp.pad(x[::-1].reshape(8, 8).T, 1), FEWER),
    "joined": (lambda x: dnp.stack([x, -x]), FEWER),
    "two results": (lambda x: (x, x + 1.0), FEWER),
    "more elements": (lambda x: x[:, None] * x, WITHOUT),
    "one that needs passes": (dnp.log1p, WITHOUT),
    "greatest": (lambda x: x.reshape(8, 8).max(1), FEWER),
    "number of the greatest": (lambda x: dnp.argmax(x), FEWER),
    "reduction of more elements": (lambda x: (x[:, None] > x).all(1), FEWER),
    "many operations": (lambda x: sum([x * float(i) for i in range(28)]), FEWER),
}
OTHERS = {
    "three results": lambda x: (x, x + 1.0, x * 2),
    "another type": lambda x: x.astype(dnp.bfloat16) + 1,
    "complex": lambda x: (x + 1j).real,
    "product": lambda x: x @ x,
    "loop": lambda x: scan(lambda c, y: (c + y, None), 0.0, x)[0],
    "order": lambda x: dnp.sort(x),
    "other code": lambda x: dnp.arctan(x),
    "too many operations": lambda x: sum([x * float(i) for i in range(70)]),
    "many functions": lambda x: sum([dnp.sin(x * float(i)) for i in range(16)]),
    "many elements": lambda x: x + dnp.zeros((65, 64)),
    "elements at places": lambda x: x[dnp.arange(9) % 5],
}


@pytest.mark.parametrize("name", SMALL)
def test_small_modules_are_compiled_with_less_to_the_same_bits(name: str) -> None:
    f, expected = SMALL[name]
    module = facts(f, X)
    assert is_small(module)
    assert options(module) == expected
    assert options(module, exists=False) == {}
    in_full = jit(f).lower(X).compile(IN_FULL)
    for a, b in zip(leaves(jit(f)(X)), leaves(in_full(X))):
        assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


@pytest.mark.parametrize("f", [dnp.sum, dnp.var, lambda x: dnp.mean((x - x[::-1]) ** 2)])
def test_sums_differ_by_rounding_alone(f: Any) -> None:
    x = np.linspace(0.1, 1.0, 1000, dtype=np.float32)
    assert options(facts(f, x)) == FEWER
    in_full = jit(f).lower(x).compile(IN_FULL)
    assert_close(jit(f)(x), np.asarray(in_full(x)), factor=16)


@pytest.mark.parametrize("name", OTHERS)
def test_other_programs_are_not(name: str) -> None:
    result = facts(OTHERS[name], X)
    assert not is_small(result) and options(result) == {}


def test_of_double_precision() -> None:
    with config.option("enable_x64")(True):
        assert options(facts(lambda x: x + 1.0, X.astype(np.float64))) == FEWER


@pytest.mark.parametrize("name", [EMITTERS, LEVEL])
def test_flags_of_the_environment_win(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", f"--{name}=1")
    assert options(facts(SMALL["sum"][0], X)) == {}


@pytest.mark.parametrize("rule", [r for r in RULES if r.options], ids=lambda r: r.name)
def test_of_every_rule_the_flags_of_the_environment_win(
    rule: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = rule._replace(applies=lambda facts: True, last=None, requires="")
    monkeypatch.setattr(cpu_rules, "RULES", [alone])
    module = facts(SMALL["sum"][0], X)
    assert options(module) == rule.options
    for name in rule.options:
        monkeypatch.setenv("XLA_FLAGS", f"--{name}=something")
        assert options(module) == {}


@pytest.mark.parametrize("rule", RULES, ids=lambda r: r.name)
def test_every_rule_says_why(rule: Any) -> None:
    assert rule.name and rule.why.endswith((".", ".)"))


def test_compilers_of_rules_for_some_versions_have_the_options() -> None:
    for rule in RULES:
        if rule.last is not None and JAXLIB_VERSION[:2] <= rule.last:
            for name in rule.options:
                assert xla_options.option_exists(BACKEND.client, name), (rule.name, name)


def test_operations_that_are_compiled_quickly_have_their_own_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[Any] = []
    make = xla_options.compile_options

    def seen(*args: Any, **kwargs: Any) -> Any:
        given.append((args[1], dict(kwargs["compiler_options"])))
        return make(*args, **kwargs)

    monkeypatch.setattr(xla_options, "compile_options", seen)
    for profile in "quick", "default":
        module = jit(SMALL["sum"][0]).lower(X)._module
        BACKEND.compile(module, BACKEND.devices()[0], None, profile)
    chosen = options_for(module.facts(), partial(xla_options.option_exists, BACKEND.client))
    quick = {k: v for k, v in chosen.items() if k != LEVEL}
    assert chosen.get(LEVEL) == (FEWER[LEVEL] if EMITTERS in IN_FULL else None)
    assert given == [("quick", quick), ("default", chosen)]


def _recurrent(x: Any, w: Any, join: bool = False, roll: bool = False) -> Any:
    def step(h: Any, x: Any) -> Any:
        h = dnp.concatenate([h, x]) @ w if join else h @ w[:8] + x
        h = dnp.tanh(h)
        return h + dnp.roll(h, 1) if roll else h, None

    return scan(step, dnp.zeros(8), x)[0]


RECURRENT = {
    "sum": (lambda x, w: _recurrent(x, w), True),
    "joined": (lambda x, w: _recurrent(x, w, join=True), True),
    "gradient": (grad(lambda x, w: _recurrent(x, w, join=True).sum(), 1), True),
    "stencil": (lambda x, w: _recurrent(x, w, roll=True), False),
    "no product": (lambda x, w: scan(lambda c, y: (c + y, None), dnp.zeros(8), x)[0], False),
    "no loop": (lambda x, w: dnp.tanh(x @ w[:8]), False),
    "another operation": (lambda x, w: dnp.sort(_recurrent(x, w)), False),
    "large": (lambda x, w: _recurrent(x, w).sum() + dnp.zeros((1 << 18,)), False),
}


@pytest.mark.parametrize("name", RECURRENT)
def test_recurrent_networks_have_the_second_level(name: str) -> None:
    f, expected = RECURRENT[name]
    x, w = np.linspace(-1, 1, 40, dtype=np.float32).reshape(5, 8), np.eye(16, 8, dtype=np.float32)
    module = facts(f, x, w)
    assert is_recurrent(module) == expected
    if expected:
        assert options(module) == {LEVEL: 2}
        in_full = jit(f).lower(x, w).compile({LEVEL: 3})
        assert np.asarray(jit(f)(x, w)).tobytes() == np.asarray(in_full(x, w)).tobytes()


@pytest.mark.parametrize("version, kept", [((0, 11, 0), True), (NEWEST, False)])
def test_barriers_are_kept_where_the_compiler_would_remove_them(
    version: tuple[int, ...], kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = facts(lambda x: optimization_barrier(dnp.tan(x)), X)
    result = options_for(module, lambda name: True, version)
    assert result == ({PASSES: BARRIERS} if kept else {})
    monkeypatch.setenv("XLA_FLAGS", f"--{PASSES}=fusion")
    assert options_for(module, lambda name: True, version) == {}
