"""The option by which programs are compiled without XLA's optimisations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_backends.cpu_rules import EMITTERS
from dovetail_core import config
from dovetail_jit import all_options, jit
from dovetail_jit.options import disable_most_optimizations
from dovetail_xla import execution
from dovetail_xla.options import LEVEL
from dovetail_xla.version import JAXLIB_VERSION

FEW = {LEVEL: 0, "xla_llvm_disable_expensive_passes": True}


def test_it_is_off_and_has_a_name_of_its_own(optimized: None) -> None:
    assert not disable_most_optimizations.value and all_options("cpu", None) == {}
    assert config.option("disable_most_optimizations") is disable_most_optimizations


@pytest.mark.parametrize("wanted", [True, False])
def test_what_the_compiler_is_told(wanted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on; what is compiled stays."""
    told: list[dict[str, Any]] = []
    compile_it = execution.compile

    def note(client: Any, text: str, devices: Any, options: Any, *more: Any) -> Any:
        told.append(dict(options.env_option_overrides))
        return compile_it(client, text, devices, options, *more)

    monkeypatch.setattr(execution, "compile", note)
    x = np.linspace(0.1, 1.0, 600 + wanted, dtype=np.float32)  # a shape that no other test has
    f = jit(lambda x: dnp.cumsum(lax.sin(x)) @ x)
    with disable_most_optimizations(wanted):
        result = f(x)
        again = jit(lambda x: lax.cos(x) @ x, compiler_options={LEVEL: 1})(x)
    np.testing.assert_allclose(result, np.cumsum(np.sin(x)) @ x, rtol=1e-4)
    np.testing.assert_allclose(again, np.cos(x) @ x, rtol=1e-5)
    first, second = told
    assert (first.items() >= FEW.items()) == wanted
    if wanted and JAXLIB_VERSION < (0, 12):  # later ones have no such option
        assert first[EMITTERS] is False
    assert second[LEVEL] == 1 and ("xla_llvm_disable_expensive_passes" in second) == wanted
    f(x)
    assert len(told) == 2


def test_what_is_given_wins() -> None:
    with disable_most_optimizations(True):
        assert all_options("cuda", {"xla_gpu_autotune_level": 0}) == {
            **FEW, "xla_gpu_autotune_level": 0,
        }  # fmt: skip
        assert all_options("cpu", {LEVEL: 3})[LEVEL] == 3
        f = jit(lambda x: lax.sin(x) * 2.0, compiler_options={EMITTERS: True})
        np.testing.assert_allclose(f(np.float32(0.5)), 2 * np.sin(0.5), rtol=1e-6)


def test_it_is_a_boolean() -> None:
    with pytest.raises(ValueError, match="'disable_most_optimizations': expected a bool"):
        config.update("disable_most_optimizations", "some")
