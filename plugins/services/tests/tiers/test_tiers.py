"""Programs begin in one form and go on in another: results, donation, failures, and who may."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_backends import devices
from dovetail_backends.pjrt.facts import ArrayType, Kind, ModuleFacts
from dovetail_callbacks import pure_callback
from dovetail_core import config
from dovetail_jit import Executable, ShapeDtypeStruct, executables_of, jit
from dovetail_jit.call.mutable_arguments import boundary_of
from dovetail_jit.serializing import deserialize_and_load, serialize
from dovetail_refs import new_ref
from dovetail_services.tiers import interpreted, process as compilers, provider as choice
from dovetail_services.tiers.options import tiered
from dovetail_testing import assert_close

X = np.linspace(0.1, 1.0, 64, dtype=np.float32).reshape(8, 8)
LONG = 60.0


@pytest.fixture
def compiler(
    tiers_always: compilers.Compiler, monkeypatch: pytest.MonkeyPatch
) -> compilers.Compiler:
    """Both forms are compiled."""
    monkeypatch.setattr(interpreted, "interpretable", lambda program, module: None)
    return tiers_always


def steps(x: Any) -> Any:
    """A program of several kernels."""
    for _ in range(4):
        x = lax.add(lax.sin(lax.dot(x, x)), 1.0)
    return x


def operation(name: str, size: int) -> Kind:
    """Facts of an operation on arrays of some size."""
    aval = ArrayType((size,), "f32")
    return Kind(name, (aval, aval), (aval,))


class Module(NamedTuple):
    """A module, of which only the kinds of its operations are known."""

    kinds: dict[Kind, int] | None

    def facts(self) -> ModuleFacts | None:
        return self.kinds and ModuleFacts(self.kinds, frozenset(), (), {}, False)


def fresh() -> Any:
    """A function of that program, which nobody has compiled."""
    return lambda x: steps(x)


def executable(f: Any, *args: Any) -> Any:
    """What a call of a jitted function has compiled."""
    (result,) = executables_of(f.trace(*args)._program.call)
    return result


def brought(f: Any, *args: Any) -> Any:
    """The executable of a jitted function that was called, when the full one has come."""
    result = executable(f, *args)
    assert result.is_provisional and result.successor._is_over.wait(LONG)
    return result


def process(
    compiler: compilers.Compiler, last: subprocess.Popen[bytes] | None = None
) -> subprocess.Popen[bytes]:
    """The compiler's process, another one than ``last``, when it is there."""
    end = time.monotonic() + LONG
    while compiler.process is None or compiler.process is last:
        assert time.monotonic() < end
        time.sleep(0.005)
    return compiler.process


def test_a_program_is_exchanged_at_a_call(
    compiler: compilers.Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    f = jit(fresh())
    first = f(X)
    before = brought(f, X).loaded
    again = f(X)
    made = executable(f, X)
    assert made.successor is None and made.loaded is not before
    assert_close(np.asarray(again), np.asarray(first))
    with tiered("off"):
        assert np.asarray(jit(lambda x: steps(x))(X)).tobytes() == np.asarray(again).tobytes()
    monkeypatch.setattr(Executable, "run", None)  # from now on C++ repeats calls by itself
    assert np.asarray(f(X)).tobytes() == np.asarray(again).tobytes()


def test_calls_do_not_wait_for_the_process(compiler: compilers.Compiler, held: None) -> None:
    f = jit(fresh())
    assert all(np.asarray(f(X)).shape == (8, 8) for _ in range(3))
    assert executable(f, X).is_provisional
    os.kill(process(compiler).pid, signal.SIGCONT)
    brought(f, X)
    f(X)
    assert not executable(f, X).is_provisional


def test_a_process_that_is_killed_is_replaced_once(
    compiler: compilers.Compiler, held: None
) -> None:
    f = jit(fresh())
    want = np.asarray(f(X))
    first = process(compiler)
    os.kill(first.pid, signal.SIGKILL)
    second = process(compiler, first)
    os.kill(second.pid, signal.SIGCONT)
    brought(f, X)
    f(X)
    assert executable(f, X).successor is None
    os.kill(second.pid, signal.SIGSTOP)
    g = jit(lambda x: steps(lax.add(x, 0.0)))
    g(X)
    os.kill(second.pid, signal.SIGKILL)
    assert executable(g, X).successor._is_over.wait(LONG)
    told = r"goes on in its quickly compiled form, .*: the process that compiles has ended twice "
    with pytest.warns(RuntimeWarning, match=told + r"\(status -9\)\. jit\(f\)\.lower"):
        got = g(X)
    assert_close(np.asarray(got), want)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g(X)
        h = jit(lambda x: steps(lax.sub(x, 0.0)))
        h(X)  # compiled in full: there is nobody else to do it
    assert executable(h, X).successor is None
    before = executable(g, X).loaded
    g.lower(X).compile()
    assert executable(g, X).successor is None and executable(g, X).loaded is not before


def test_what_the_process_cannot_do_is_said_once(
    compiler: compilers.Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dovetail_services.tiers import requests

    made = requests.request

    def wrong(*args: Any) -> Any:
        header, text = made(*args)
        return {**header, "options": {"xla_no_such_option": 1}}, text

    monkeypatch.setattr(requests, "request", wrong)
    f, g = jit(fresh()), jit(lambda x: steps(lax.neg(x)))
    want = np.asarray(f(X))
    g(X)
    for h in (f, g):
        assert executable(h, X).successor._is_over.wait(LONG)
    told = "<lambda> goes on .*: to compile it in another process failed, CompilerOptionError: "
    with pytest.warns(RuntimeWarning, match=f"{told}unknown compiler option .*xla_no_such_option"):
        got = f(X)
    assert got.tobytes() == want.tobytes()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        g(X)
    assert compiler.is_usable


def test_what_cannot_be_loaded_is_not_used(
    compiler: compilers.Compiler, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dovetail_services.tiers import requests

    monkeypatch.setattr(requests.execution, "deserialize", lambda *args: 1 / 0)
    f = jit(fresh())
    f(X)
    assert executable(f, X).successor._is_over.wait(LONG)
    with pytest.warns(RuntimeWarning, match="made of it cannot be loaded, division by zero"):
        f(X)


def test_donated_arguments_are_given_away_in_both_forms(compiler: compilers.Compiler) -> None:
    f = jit(lambda x, y: (lax.add(x, y), steps(y)), donate_argnums=0)
    for call in range(3):
        x = jit(lambda x: lax.mul(x, 1.0))(X)
        total, _ = f(x, X)
        assert x.is_deleted()
        assert_close(np.asarray(total), X + X)
        with pytest.raises(RuntimeError, match="donated"):
            f(x, X)
        if call == 0:
            y = jit(lambda x: lax.mul(x, 1.0))(X)
            assert brought(f, y, X).is_provisional


def test_references_are_written_in_both_forms(compiler: compilers.Compiler) -> None:
    place = new_ref(lax.full((8, 8), 0.0, np.float32))

    def f(r: Any, x: Any) -> Any:
        r[...] = lax.add(r[...], x)
        return steps(x)

    g = jit(f)
    g(place, X)
    bound = boundary_of(g.trace(place, X)._program.call)
    assert bound is not None
    (made,) = executables_of(bound.program)
    assert made.successor is not None and made.successor._is_over.wait(LONG)  # type: ignore[attr-defined]
    for call in (2, 3):
        g(place, X)
        assert made.successor is None
        assert_close(np.asarray(place[...]), call * X)


def test_stages_have_the_full_executable(compiler: compilers.Compiler) -> None:
    f = jit(fresh())
    provisional = f(X)
    before = executable(f, X).loaded
    compiled = f.lower(X).compile()
    assert compiled.runtime_executable() is not before and not executable(f, X).successor
    with tiered("off"):
        plain = jit(fresh()).lower(X).compile()
    assert compiled.as_text().count("fusion") == plain.as_text().count("fusion")
    assert compiled.cost_analysis() == plain.cost_analysis()
    assert_close(np.asarray(compiled(X)), np.asarray(provisional))
    again = deserialize_and_load(*serialize(compiled))
    assert np.asarray(again(X)).tobytes() == np.asarray(plain(X)).tobytes()
    with pytest.raises(ValueError, match=r"serialize of <lambda>.*loaded from bytes.*Keep those"):
        serialize(again)


def test_stages_do_not_wait_for_other_programs(compiler: compilers.Compiler, held: None) -> None:
    f, g = jit(fresh()), jit(lambda x: steps(lax.neg(x)))
    f(X)
    g(X)
    g.lower(X).compile()  # here and now, while the process has not begun with it
    assert executable(g, X).successor is None and executable(f, X).is_provisional


def test_the_process_writes_to_the_cache_on_disk(
    compiler: compilers.Compiler, tmp_path: Path
) -> None:
    with config.option("compilation_cache_dir")(str(tmp_path)):
        f = jit(fresh())
        first = f(X)
        brought(f, X)
        assert len(list(tmp_path.glob("*.bin"))) == 1
        again = jit(fresh())
        got = again(X)
        assert executable(again, X).successor is None and executable(again, X).was_loaded
        assert len(list(tmp_path.glob("*.bin"))) == 1
        assert_close(np.asarray(got), np.asarray(first))


def test_who_is_not_tiered(compiler: compilers.Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    lax.add(X, X)  # operations
    jit(lambda x: pure_callback(np.sin, ShapeDtypeStruct(x.shape, x.dtype), x))(X)
    jit(fresh()).lower(X).compile()
    with tiered("off"):
        jit(fresh())(X)
    assert compiler.process is None and not compiler._requested
    f = jit(lambda x: lax.add(x, 1.0))
    module = f.lower(X)._module
    device = devices("cpu")[0]
    assert choice.can_wait(module, device, {})
    assert not choice.can_wait(replace(module, platform="cuda"), device, {})
    assert not choice.can_wait(module, device, {"an_option": [1]})
    own = replace(module, text=module.text + "stablehlo.custom_call @of_this_process(")
    assert choice.can_wait(own, device, {})  # the compiler itself knows it, or nobody
    monkeypatch.setattr(choice.ffi, "registered_targets", lambda: ["of_this_process"])
    assert not choice.can_wait(own, device, {})
    monkeypatch.setattr(choice, "has_hooks", lambda name: name == "dovetail_compile")
    assert not choice.can_wait(module, device, {})


def test_programs_that_call_lapack_are_tiered(compiler: compilers.Compiler) -> None:
    spd = X @ X.T + 8 * np.eye(8, dtype=np.float32)
    f = jit(lambda x: steps(lax.linalg.cholesky(x)))
    first = f(spd)
    brought(f, spd)
    assert_close(np.asarray(f(spd)), np.asarray(first))
    assert not executable(f, spd).successor


def test_auto_is_for_what_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreted, "interpretable", lambda program, module: None)
    kinds = {operation("stablehlo.add", i): 5 for i in range(200)}
    assert choice.gains(Module(kinds))
    assert not choice.gains(Module(dict(list(kinds.items())[:68])))
    assert not choice.gains(Module({operation("stablehlo.add", 0): 1000}))
    constants = {operation("stablehlo.constant", i): 5 for i in range(200)}
    assert not choice.gains(Module({**constants, operation("stablehlo.add", 0): 1000}))
    assert not choice.gains(Module({**kinds, operation("stablehlo.while", 1): 1}))
    assert choice.gains(Module({**kinds, operation("func.call", 1): 12}))
    assert not choice.gains(Module({**kinds, operation("func.call", 1): 13}))
    assert not choice.gains(Module(None))  # not valid: compiling it says so
    assert not choice.gains(jit(steps).lower(X)._module)
    with tiered("auto"):
        f = jit(lambda x: lax.while_loop(lambda x: x[0, 0] < 1, lambda x: lax.add(x, x), x))
        f(X)
    assert executable(f, X).successor is None


def test_values_of_the_option() -> None:
    assert config.option("tiered").value in ("off", "auto", "always")
    told = "option 'tiered': expected one of 'off', 'auto', 'always', got True"
    with pytest.raises(ValueError, match=told):
        config.update("tiered", True)
