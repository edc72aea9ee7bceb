"""Faults of XLA's compiler for the CPU: avoided here, and looked for in versions to come."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dovetail_backends.cpu_faults import (
    FAULTS,
    FUSIONS,
    SINGLE_PRODUCTS,
    Fault,
    options_without_faults,
)
from dovetail_backends.cpu_options import fast_options, options_for
from dovetail_xla.version import JAXLIB_VERSION, OLDEST

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
from dovetail_backends import cpu_faults
plain, rng = sys.argv[1] == "plain", np.random.RandomState(0)
if plain:
    cpu_faults.FAULTS = ()
"""


def is_right(fault: Fault, form: str) -> bool:
    """The verdict of a process of its own, which the fault may end."""
    code = f"{PROLOGUE}{PROBES[fault.name]}\nsys.exit(0 if right else 3)"
    run = subprocess.run([sys.executable, "-c", code, form], capture_output=True, text=True)
    assert run.returncode in (0, 3) or run.returncode < 0, run.stderr
    return run.returncode == 0


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_results_are_right(fault: Fault) -> None:
    assert is_right(fault, "avoided")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_versions_after_the_last_that_is_known_do_not_have_it(fault: Fault) -> None:
    if JAXLIB_VERSION[:2] > fault.last:
        assert is_right(fault, "plain"), f"set Fault.last of {fault.name!r} to this version"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda f: f.name)
def test_a_supported_version_has_it(fault: Fault) -> None:
    assert OLDEST[:2] <= fault.last, f"no supported version has {fault.name!r}: delete it"


def module(operation: str) -> str:
    return f"func.func @main() {{ {operation} }}"


@pytest.mark.parametrize(
    "text, concerned",
    [
        ("stablehlo.reduce_window base_dilations = array<i64: 1, 2>", True),
        ("stablehlo.reduce_window base_dilations = array<i64: 1, 12>", True),
        ("stablehlo.reduce_window base_dilations = array<i64: 1, 1>", False),
        ("stablehlo.reduce_window stablehlo.pad interior_padding = array<i64: 0, 1>", True),
        ("stablehlo.reduce_window stablehlo.pad low = [1], high = [2], interior = [0, 3]", True),
        ("stablehlo.reduce_window stablehlo.pad low = [1], high = [2], interior = [0, 0]", False),
        ("stablehlo.pad interior_padding = array<i64: 0, 1>", False),
    ],
)
def test_windows_over_holes_are_found(text: str, concerned: bool) -> None:
    assert bool(options_without_faults(module(text), (0, 12, 0))) == concerned


def test_all_modules_of_versions_whose_fusions_are_wrong() -> None:
    assert options_without_faults(module("")) == (
        {FUSIONS: SINGLE_PRODUCTS} if JAXLIB_VERSION < (0, 11) else {}
    )
    assert options_without_faults(module(""), (0, 10, 2)) == {FUSIONS: SINGLE_PRODUCTS}
    assert options_without_faults(module(""), (0, 12, 0)) == {}


def test_what_is_fast_comes_after() -> None:
    text = '"stablehlo.optimization_barrier" stablehlo.reduce_window interior = [1]'
    options = options_for(text, lambda name: True)
    assert options[FUSIONS] == SINGLE_PRODUCTS
    assert options.items() >= fast_options(text, lambda name: True).items()


def test_flags_of_the_environment_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", f"--{FUSIONS}=LIBRARY_FUSION_TYPE_DOT")
    assert options_without_faults(module(""), (0, 10, 2)) == {}
