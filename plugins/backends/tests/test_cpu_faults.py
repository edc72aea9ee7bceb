"""Faults of XLA's compiler for the CPU: avoided here, and looked for in versions to come."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from dovetail_backends.cpu_rules import (
    FUSIONS,
    NO_FUSIONS,
    PASSES,
    RULES,
    SINGLE_PRODUCTS,
    Rule,
    options_for,
)
from dovetail_backends.pjrt.facts import ArrayType, Kind, ModuleFacts
from dovetail_xla.version import JAXLIB_VERSION, OLDEST

FAULTS = [rule for rule in RULES if rule.is_fault]
WITH_WRONG_FUSIONS, NEWEST = (0, 10, 2), (0, 12, 0)
PROBES = {
    "fusions of reductions": """
matrix, points = rng.randn(3, 3), rng.randn(20000, 3)
with dovetail.enable_x64(True):
    f = dovetail.jit(dovetail.vmap(lambda p: dnp.sum((matrix @ p) ** 2)))
    right = np.allclose(f(points), ((points @ matrix.T) ** 2).sum(1))
a, b = rng.randn(2, 3, 1, 2, 2, 8, 8, 8).astype(np.float32)
found = dovetail.jit(lambda a, b: dnp.sum(a * b, axis=3))(a, b)
right = right and np.allclose(found, (a * b).sum(3), rtol=1e-4, atol=1e-5)
""",
    "windows over holes": """
x = rng.randint(-4, 5, (100, 1000)).astype(np.float32)
expected = np.zeros((199, 100), np.float32)
expected[::2] = x.reshape(100, 100, 10).sum(-1)

def windows(x, dilation):
    pads = ((0, 0), (0, 0))
    return lax.reduce_window(x, 0.0, lax.add, (1, 10), (1, 10), pads, base_dilation=(dilation, 1))

def padded(x):
    return windows(lax.pad(x, np.float32(0), ((0, 0, 1), (0, 0, 0))), 1)

right = np.array_equal(dovetail.jit(lambda x: windows(x, 2))(x), expected)
right = right and np.array_equal(dovetail.jit(padded)(x), expected)
""",
    "negative pads of windows": """
if plain:
    from dovetail_xla.options import CompileOptions
    from dovetail_xla.client import device_list

    module = '''module { func.func public @main(%x: tensor<10xf32>) -> tensor<8xf32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %r = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 1>,
        padding = dense<[[-1, -1]]> : tensor<1x2xi64>}> ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %s = stablehlo.add %a, %b : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) : (tensor<10xf32>, tensor<f32>) -> tensor<8xf32>
      return %r : tensor<8xf32> } }'''
    device = dovetail.devices()[0]
    device.client.compile_and_load(module, device_list([device]), CompileOptions())
    right = True
else:
    x = np.arange(10.0, dtype=np.float32)
    f = dovetail.jit(lambda x: lax.reduce_window(x, 0.0, lax.add, (1,), (1,), ((-1, -1),)))
    right = np.array_equal(f(x), x[1:-1])
""",
}
"""Programs that set ``right``, by the fault that they show."""

PROLOGUE = """
import sys
import numpy as np
import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail_backends import cpu_rules
plain, rng = sys.argv[1] == "plain", np.random.RandomState(0)
if plain:
    cpu_rules.RULES = [rule for rule in cpu_rules.RULES if not rule.is_fault]
"""


def is_right(fault: Rule, form: str) -> bool:
    """The verdict of a process of its own, which the fault may end."""
    code = f"{PROLOGUE}{PROBES[fault.name]}\nsys.exit(0 if right else 3)"
    run = subprocess.run([sys.executable, "-c", code, form], capture_output=True, text=True)
    assert run.returncode in (0, 3) or run.returncode < 0, run.stderr
    return run.returncode == 0


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_results_are_right(fault: Rule) -> None:
    assert is_right(fault, "avoided")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_versions_after_the_last_that_is_known_do_not_have_it(fault: Rule) -> None:
    assert fault.last is not None
    if JAXLIB_VERSION[:2] > fault.last:
        assert is_right(fault, "plain"), f"set Rule.last of {fault.name!r} to this version"


@pytest.mark.parametrize("rule", [r for r in RULES if r.last], ids=lambda r: r.name)
def test_a_supported_version_is_concerned(rule: Rule) -> None:
    assert rule.last is not None
    assert OLDEST[:2] <= rule.last, f"no supported version has {rule.name!r}: delete it"


ARRAY = ArrayType((8, 8), "f32")


def facts(**attributes: Any) -> ModuleFacts:
    """Facts of a module with operations of StableHLO and the attributes that count of them."""
    kinds = {Kind(f"stablehlo.{k}", (ARRAY,), (ARRAY,), v): 1 for k, v in attributes.items()}
    return ModuleFacts(kinds, frozenset({ARRAY}), (ARRAY,), {}, False)


def options(facts: ModuleFacts | None, version: tuple[int, ...]) -> Any:
    return options_for(facts, lambda name: True, version)


@pytest.mark.parametrize(
    "attributes, concerned",
    [
        ({"reduce_window": (1, 2)}, True),
        ({"reduce_window": (1, 12)}, True),
        ({"reduce_window": (1, 1)}, False),
        ({"reduce_window": ()}, False),
        ({"reduce_window": None}, True),
        ({"reduce_window": (1,), "pad": (0, 1)}, True),
        ({"reduce_window": (1,), "pad": (0, 0)}, False),
        ({"reduce_window": (1,), "pad": None}, True),
        ({"pad": (0, 1)}, False),
    ],
)
def test_windows_over_holes_are_found(attributes: Any, concerned: bool) -> None:
    result = options(facts(exponential=None, **attributes), NEWEST)
    assert (result.get(FUSIONS) == SINGLE_PRODUCTS) == concerned


def test_all_modules_of_versions_whose_fusions_are_wrong() -> None:
    plain = facts(tan=None)
    assert options(plain, WITH_WRONG_FUSIONS) == {FUSIONS: SINGLE_PRODUCTS}
    assert options(plain, NEWEST) == {}
    without = {FUSIONS: SINGLE_PRODUCTS} if JAXLIB_VERSION < (0, 11) else {}
    assert options_for(plain, lambda name: True) == without


@pytest.mark.parametrize("version", [WITH_WRONG_FUSIONS, NEWEST])
def test_modules_of_which_nothing_is_known_have_no_fault(version: tuple[int, ...]) -> None:
    assert options(None, version) == {FUSIONS: SINGLE_PRODUCTS}


def test_what_is_fast_comes_beside() -> None:
    result = options(facts(optimization_barrier=None, reduce_window=(2,)), WITH_WRONG_FUSIONS)
    assert result.keys() == {FUSIONS, PASSES} and result[FUSIONS] == SINGLE_PRODUCTS


def test_what_is_fast_brings_no_fault_back() -> None:
    for rule in RULES:
        if not rule.is_fault:
            assert rule.options.get(FUSIONS, NO_FUSIONS) == NO_FUSIONS, rule.name


@pytest.mark.parametrize("flag", [f"--{FUSIONS}=LIBRARY_FUSION_TYPE_DOT", f"--{FUSIONS}="])
def test_flags_of_the_environment_win(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", flag)
    assert options(facts(tan=None), WITH_WRONG_FUSIONS) == {}
    assert options(None, WITH_WRONG_FUSIONS) == {}
