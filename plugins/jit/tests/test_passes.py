"""Passes act on whatever computes a program: the compiler, and all that stands in for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as jnp
from dovetail_core import ClosedJaxpr, Manifest, Pass, RegistryError, config
from dovetail_jit import jit
from dovetail_jit.options import interpret_first_calls
from dovetail_jit.providers import background_compile
from dovetail_lax import add_p, sub_p
from dovetail_testing.fresh import with_plugins
from dovetail_xla import mlir

Installed = Callable[..., AbstractContextManager[Any]]
X = np.arange(3, dtype=np.int32)


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Installed]:
    """Makes a plugin of a pass, which is there in a context; first calls are NumPy's."""

    def install(run: Any, stage: Any = "ir", **kw: Any) -> AbstractContextManager[Any]:
        module: Any = ModuleType("acme_passes")
        module.PASS = Pass("acme", stage, run, **kw)
        monkeypatch.setitem(sys.modules, "acme_passes", module)
        return with_plugins(Manifest("acme", passes={"acme": "acme_passes:PASS"}))

    with interpret_first_calls(2):
        yield install
    until_compiled()  # with the passes that there were


def until_compiled() -> None:
    """Wait until programs are compiled that nobody waits for."""
    deadline = time.monotonic() + 60
    while background_compile.waiting():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def subtracting(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with differences in place of sums."""
    eqns = [e.replace(primitive=sub_p) if e.primitive is add_p else e for e in program.eqns]
    return ClosedJaxpr(program.jaxpr.replace(eqns=eqns), program.consts)


def in_text(text: str) -> str:
    return text.replace("stablehlo.add", "stablehlo.subtract")


def results(x: Any) -> set[tuple[int, ...]]:
    """What ``x + 1`` is by everything that computes it: first calls, compiled ones, jit."""
    result: list[Any] = []
    for n in range(20):
        result += [x + 1, jnp.add(x, 1)]
        if n == 3:
            until_compiled()
    result += [jit(lambda v: v + 1)(x), jit(lambda v: v + 1).lower(x).compile()(x)]
    return {tuple(np.asarray(v).tolist()) for v in result}


SUMS, DIFFERENCES = {(1, 2, 3)}, {(-1, 0, 1)}
PASSES = [(subtracting, "ir"), (subtracting, "hi"), (in_text, "module")]


@pytest.mark.parametrize(("run", "stage"), PASSES)
def test_a_pass_acts_alike_on_all_calls(installed: Installed, run: Any, stage: str) -> None:
    x = jnp.asarray(X)
    assert results(x) == SUMS
    with installed(run, stage, platforms=("cpu",)):
        assert results(x) == DIFFERENCES
    assert results(x) == SUMS, "and on none when its plugin is gone"
    with installed(run, stage):
        assert results(x) == DIFFERENCES


@pytest.mark.parametrize(("run", "stage"), PASSES)
def test_a_pass_of_another_platform_acts_on_no_call(
    installed: Installed, run: Any, stage: str
) -> None:
    with installed(run, stage, platforms=("tpu", "reference")):
        assert results(jnp.asarray(X)) == SUMS


def test_a_backend_of_whole_programs_runs_passes_of_its_own_platform(installed: Installed) -> None:
    def add(x: Any) -> Any:
        return x + 1

    with installed(subtracting, platforms=("cpu",)):
        assert np.asarray(jit(add, backend="reference")(X)).tolist() == [1, 2, 3]
    with installed(subtracting, platforms=("reference",)):
        assert np.asarray(jit(add, backend="reference")(X)).tolist() == [-1, 0, 1]
    assert np.asarray(jit(add, backend="reference")(X)).tolist() == [1, 2, 3]


@pytest.mark.parametrize("mode", ["always", "off"])
def test_programs_that_numpy_runs_at_first_see_passes(installed: Installed, mode: str) -> None:
    x = np.linspace(0, 1, 4, dtype=np.float32)

    def f(v: Any) -> Any:
        return lax.sin(v + 1)

    with config.option("tiered")(mode):
        with installed(subtracting, platforms=("cpu",)):
            np.testing.assert_allclose(np.asarray(jit(f)(x)), np.sin(x - 1), rtol=1e-6)
        with installed(subtracting, platforms=("reference",)):
            np.testing.assert_allclose(np.asarray(jit(f)(x)), np.sin(x + 1), rtol=1e-6)


def test_a_call_fails_where_a_pass_changes_its_types(installed: Installed) -> None:
    def swapped(program: ClosedJaxpr) -> ClosedJaxpr:
        jaxpr = program.jaxpr
        return ClosedJaxpr(jaxpr.replace(outvars=jaxpr.outvars[::-1]), program.consts)

    said = "the pass 'acme' .*plugin 'acme' of acme-dist 1.0 changed the type of result 0 from i32"
    with installed(swapped), pytest.raises(RegistryError, match=said):
        jit(lambda x: (x + 1, x * 2.5))(X)


def test_a_call_fails_where_a_pass_changes_the_type_of_main(installed: Installed) -> None:
    def wider(text: str) -> str:
        return text.replace("3xi32", "4xi32")

    said = "changed the type of input 0 of its function main from tensor<3xi32> to tensor<4xi32>"
    with installed(wider, "module"), pytest.raises(RegistryError, match=said):
        jit(lambda x: x * 3)(X)


def printed_anew(text: str) -> Any:
    return mlir.pretty(in_text(text))


def as_object(text: str) -> Any:
    return mlir.parse(in_text(text))


def with_new_names(text: str) -> Any:
    """A module as no printer writes it: generic operations, other names, comments."""
    module = mlir.parse(in_text(text))
    return "// made anew\n" + module.operation.get_asm(print_generic_op_form=True)


@pytest.mark.parametrize("run", [printed_anew, as_object, with_new_names])
def test_a_module_that_is_printed_anew_is_shown(installed: Installed, run: Any) -> None:
    def f(first: Any, second: Any) -> Any:
        return {"sum": first["a"] + second, "one": jnp.float32(1)}

    with installed(run, "module"):
        lowered = jit(f).lower({"a": X}, X)
        assert np.asarray(lowered.compile()({"a": X}, X + 1)["sum"]).tolist() == [-1, -1, -1]
        text, located = lowered.as_text(), lowered.as_text(debug_info=True)
        hlo = lowered.as_text("hlo")
    for shown in (text, located):
        assert "stablehlo.subtract" in shown and "stablehlo.add" not in shown
        assert "jax.result_info = \"result['sum']\"" in shown
        assert "jax.result_info = \"result['one']\"" in shown
    assert "loc(" not in text and "loc(\"first['a']\")" in located and '"second"' in located
    assert "subtract" in hlo and " add(" not in hlo


def test_locations_are_kept_where_a_pass_keeps_them(installed: Installed) -> None:
    with installed(in_text, "module"):
        located = jit(lambda x: x + 1).lower(X).as_text(debug_info=True)
    assert '"jit(<lambda>)/add"' in located and "stablehlo.subtract" in located


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_shown_is_what_is_compiled_whatever_a_pass_makes_of_locations(
    installed: Installed, fails: bool
) -> None:
    def run(text: str) -> str:
        if "loc(" in text and fails:
            raise ValueError("no locations, please")
        return text if "loc(" in text else in_text(text)

    with installed(run, "module"):
        lowered = jit(lambda x: x + 1).lower(X)
        located = lowered.as_text(debug_info=True)
    assert "stablehlo.subtract" in located and "stablehlo.add" not in located


def test_an_error_of_a_pass_says_which_it_was(installed: Installed) -> None:
    with installed(lambda program: 1 // 0), pytest.raises(ZeroDivisionError) as e:
        jit(lambda x: x + 1)(X)
    assert e.value.__notes__ == [
        "This was raised in the pass 'acme' (stage 'ir') of plugin 'acme' of acme-dist 1.0."
    ]
