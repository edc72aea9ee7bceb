"""Equal modules of different programs run one executable, where that makes no difference."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_callbacks import pure_callback
from dovetail_jit import clear_caches, jit
from dovetail_jit.call import request
from dovetail_jit.providers import equal_modules


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the modules that are compiled, however quickly that is done."""
    names: list[str] = []
    anew = request.compile_uncached

    def compile_uncached(module: Any, *rest: Any) -> Any:
        names.append(module.name)
        return anew(module, *rest)

    monkeypatch.setattr(equal_modules, "SECONDS", -1.0)
    monkeypatch.setattr(request, "compile_uncached", compile_uncached)
    equal_modules._kept.clear()
    yield names
    equal_modules._kept.clear()


def function(k: float = 3.0) -> Callable[[Any], Any]:
    def shifted(x: Any) -> Any:
        return dnp.sin(x) * k

    return shifted


def test_functions_that_are_made_anew(compiled: list[str]) -> None:
    x = np.arange(4, dtype=np.float32)
    for _ in range(3):
        np.testing.assert_allclose(jit(function())(x), np.sin(x) * 3, rtol=1e-6)
    assert compiled.count("shifted") == 1
    np.testing.assert_allclose(jit(function(4.0))(x), np.sin(x) * 4, rtol=1e-6)
    assert compiled.count("shifted") == 2


def test_a_donated_argument_is_another_program(compiled: list[str]) -> None:
    x = dnp.arange(4.0)
    kept = jit(function())(x)
    given = jit(function(), donate_argnums=0)(dnp.arange(4.0))
    np.testing.assert_array_equal(kept, given)
    assert compiled.count("shifted") == 2
    jit(function(), compiler_options={"xla_embed_ir_in_executable": True})(x)
    assert compiled.count("shifted") == 3


def test_functions_that_are_called_back_stay_apart(compiled: list[str]) -> None:
    def calling(k: float) -> Any:
        def shifted(x: Any) -> Any:
            return pure_callback(lambda x: x + np.float32(k), x, x)

        return jit(shifted)(dnp.zeros(3))

    assert float(calling(1.0)[0]) == 1.0 and float(calling(2.0)[0]) == 2.0
    assert compiled.count("shifted") == 2


def test_compiling_asked_for_is_done(compiled: list[str]) -> None:
    x = dnp.arange(4.0)
    jit(function())(x)
    assert jit(function()).lower(x).compile()(x).shape == (4,)
    assert compiled.count("shifted") == 2


def test_cleared_caches_keep_none(compiled: list[str]) -> None:
    jit(function())(dnp.arange(4.0))
    clear_caches()
    jit(function())(dnp.arange(4.0))
    assert compiled.count("shifted") == 2
