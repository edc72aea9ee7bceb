"""Which modules are compiled with which of XLA's options."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_backends.cpu_options import EMITTERS, is_formula, options_for
from dovetail_core import config
from dovetail_core.xla.version import JAXLIB_VERSION
from dovetail_jit import jit
from dovetail_lax import scan

X = np.linspace(0.1, 1.0, 64, dtype=np.float32)


def text(f: Any, *args: Any) -> str:
    """The module of a function."""
    return jit(f).lower(*args)._module.text


FORMULAS = {
    "sum": lambda x: x + 1.0,
    "functions": lambda x: dnp.tanh(dnp.exp(-x * x)) / dnp.sqrt(x),
    "choice": lambda x: dnp.where(x > 0.5, dnp.clip(x, 0.1, 0.9), -x),
    "numbers": lambda x: (x * 10).astype(np.int32) // 3,
    "moved": lambda x: dnp.pad(x[::-1].reshape(8, 8).T, 1),
}
OTHERS = {
    "two results": lambda x: (x, x + 1.0),
    "another type": lambda x: x.astype(dnp.bfloat16) + 1,
    "complex": lambda x: (x + 1j).real,
    "product": lambda x: x @ x,
    "reduction": lambda x: x.sum(),
    "loop": lambda x: scan(lambda c, y: (c + y, None), 0.0, x)[0],
    "order": lambda x: dnp.sort(x),
    "other code": lambda x: dnp.arctan(x),
    "many operations": lambda x: sum([x * float(i) for i in range(40)]),
    "many elements": lambda x: x + dnp.zeros((65, 64)),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_compiled_without_emitters_to_the_same_bits(name: str) -> None:
    f = FORMULAS[name]
    module = text(f, X)
    assert is_formula(module)
    assert options_for(module, lambda name: True) == {EMITTERS: False}
    assert options_for(module, lambda name: False) == {}
    with_emitters = jit(f).lower(X).compile({EMITTERS: True})
    assert np.asarray(jit(f)(X)).tobytes() == np.asarray(with_emitters(X)).tobytes()


@pytest.mark.parametrize("name", OTHERS)
def test_other_programs_are_not(name: str) -> None:
    assert not is_formula(text(OTHERS[name], X))


def test_of_double_precision() -> None:
    with config.option("enable_x64")(True):
        assert is_formula(text(lambda x: x + 1.0, X.astype(np.float64)))


def test_flags_of_the_environment_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_use_fusion_emitters=true")
    assert options_for(text(FORMULAS["sum"], X), lambda name: True) == {}


def test_barriers_are_kept_where_the_compiler_would_remove_them() -> None:
    found = options_for('"stablehlo.optimization_barrier"', lambda name: True)
    assert bool(found) == (JAXLIB_VERSION < (0, 12))
