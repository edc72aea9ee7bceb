"""What is logged, in which threads, and how it is asked for."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import threading
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_ad import grad
from dovetail_base.options import enable_x64
from dovetail_batching import vmap
from dovetail_core import config
from dovetail_hooks import has_hooks, manager
from dovetail_jit import clear_caches, jit, make_jaxpr, signatures
from dovetail_profiler.misses.signatures import differences
from dovetail_profiler.options import listener
from dovetail_profiler.public import explain_cache_misses, log_compiles
from dovetail_sharding import AbstractMesh, PartitionSpec as P
from dovetail_sharding.manual.mapping import shard_map
from dovetail_tree.util import register_pytree_node

X = np.ones(3, np.float32)
TIME = r"[\d.e+]+ (s|ms|us)"


def said(caplog: Any) -> list[str]:
    assert all(
        r.levelno == logging.WARNING and r.name == "dovetail.compile" for r in caplog.records
    )
    result = [r.getMessage() for r in caplog.records]
    caplog.clear()
    return result


def test_every_stage_is_logged(caplog: Any) -> None:
    def f(x: Any, n: int) -> Any:
        return lax.mul(lax.sin(x["a"]), float(n))

    jitted = jit(f, static_argnums=1)
    with log_compiles(True):
        jitted({"a": X}, 3)
        jitted({"a": X}, 3)
    traced, lowered, compiled = said(caplog)
    location = r"at \S+test_options.py:\d+ \(test_every_stage_is_logged\)"
    what = rf"traced f \(\S*test_options.py:\d+\) for x\['a'\]: f32\[3\] {location} in {TIME}"
    assert re.fullmatch(what, traced)
    assert re.fullmatch(rf"lowered f in {TIME}", lowered)
    assert re.fullmatch(rf"compiled f for cpu in {TIME}", compiled)
    jitted({"a": X[:2]}, 3)
    assert not said(caplog)


def test_it_decorates_functions_and_is_an_option_of_the_process(caplog: Any) -> None:
    assert config.log_compiles is False and config.explain_cache_misses is False
    f = jit(lambda x: lax.sin(x))

    @log_compiles()
    def inside() -> None:
        f(X)

    inside()
    assert len(said(caplog)) == 3
    config.update("log_compiles", True)
    try:
        f(X[:1])
        assert len(said(caplog)) == 3
        with log_compiles(False):
            f(X[:2])
        assert not said(caplog)
    finally:
        config.update("log_compiles", False)
    with pytest.raises(ValueError, match=r"option 'log_compiles': expected a bool.* got 'maybe'"):
        log_compiles("maybe")


def test_it_is_of_one_thread(caplog: Any) -> None:
    f = jit(lambda x: lax.sin(lax.cos(x)))
    with log_compiles(True):
        other = threading.Thread(target=f, args=(X,))
        other.start()
        other.join()
    assert not said(caplog)


@pytest.mark.parametrize("option", ["LOG_COMPILES", "EXPLAIN_CACHE_MISSES"])
def test_the_environment_asks_for_it(option: str) -> None:
    script = (
        "import numpy as np, dovetail, dovetail.lax as lax\n"
        "f = dovetail.jit(lambda x: lax.sin(x))\n"
        "for n in (1, 2): f(np.ones(n, np.float32))"
    )
    env = {**os.environ, f"DOVETAIL_{option}": "1"}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
    lines = run.stderr.strip().split("\n")
    assert len(lines) == (6 if option == "LOG_COMPILES" else 1), run.stderr
    kinds = ("traced <lambda> (", "lowered <lambda> in ", "compiled <lambda> for cpu in ")
    if option == "LOG_COMPILES":
        assert all(line.startswith(kinds) for line in lines)
    else:
        assert "x: f32[2], before f32[1] (another shape)" in lines[0]


def test_hooks_are_left_alone_where_nothing_asks() -> None:
    script = (
        "import numpy as np, dovetail, dovetail.lax as lax\n"
        "dovetail.jit(lambda x: lax.sin(x))(np.float32(1))\n"
        "from dovetail_hooks import has_hooks\nprint(has_hooks('dovetail_traced'))"
    )
    env = {k: v for k, v in os.environ.items() if not k.startswith("DOVETAIL_")}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env)
    assert run.stdout == "False\n", run.stderr


def explained(caplog: Any) -> str:
    (line,) = said(caplog)
    location = r" at \S+test_options.py:\d+ \(\S+\)"
    result = re.fullmatch(
        rf"(\S+) \(\S*test_options.py:\d+\) is traced again{location}: (.*)", line
    )
    assert result, line
    return result[2]


SHAPE = "Pad arrays to a few shapes, or take the part that varies out of the function."


def test_what_differs_is_told(caplog: Any) -> None:
    f = jit(lambda x, y=0.0, *, n=1: (lax.sin(x["a"]), y, n), static_argnames="n")
    f({"a": X})
    assert not said(caplog)
    with explain_cache_misses(True):  # the nearest call was before anybody asked
        f({"a": X[:2]})
        assert explained(caplog) == f"x['a']: f32[2], before f32[3] (another shape). {SHAPE}"
        f({"a": X.astype(np.float16)})
        text = "x['a']: f16[3], before f32[3] (another dtype). Convert the argument to one dtype"
        assert explained(caplog).startswith(text)
        f({"a": X}, n=2)
        assert explained(caplog) == (
            "n: 2, before not given (a static argument). Each value of a static argument is a "
            "program of its own: pass what takes many values as an ordinary argument."
        )
        f({"a": X}, n=3)
        assert explained(caplog).startswith("n: 3, before 2 (a static argument). ")
        f({"a": X}, 2.0)
        text = "y: by position, before not given (passed in another way). Pass the arguments in"
        assert explained(caplog).startswith(text)
        f({"a": X}, np.float32(2.0))
        text = "y: f32[], before f32[]~ (a Python number is not an array). Give the argument either"
        assert explained(caplog).startswith(text)
        f({"a": X, "b": 1.0})
        text = "x: dict with different entries: ['b'] only now (another structure). Give trees of"
        assert explained(caplog).startswith(text)
        with enable_x64(True):
            f({"a": X})
        text = (
            "enable_x64: True, before False (an option). Set options once, before the first call."
        )
        assert explained(caplog) == text


def test_static_values_are_shown_as_they_are(caplog: Any) -> None:
    f = jit(lambda n, x: lax.mul(x, 1.0), static_argnums=0)
    with explain_cache_misses(True):
        for value in (0.5, (1, 2.5), 1j, "sum"):
            f(value, X)
    shown = [line.partition(": ")[2].partition(" (a static")[0] for line in said(caplog)]
    assert shown == ["n: (1, 2.5), before 0.5", "n: 1j, before (1, 2.5)", "n: 'sum', before 1j"]


class Strict:
    """A container that takes only arrays."""

    def __init__(self, x: Any) -> None:
        if not hasattr(x, "dtype"):
            raise TypeError("an array is wanted")
        self.x = x


register_pytree_node(Strict, lambda s: ((s.x,), None), lambda _, xs: Strict(*xs))


def test_leaves_of_containers_that_refuse_names_have_numbers(caplog: Any) -> None:
    f = jit(lambda s: lax.sin(s.x))
    with explain_cache_misses(True):
        f(Strict(X))
        f(Strict(X[:1]))
    assert explained(caplog).startswith("s, leaf 0: f32[1], before f32[3] (another shape). ")


def test_a_function_that_is_made_anew(caplog: Any) -> None:
    with explain_cache_misses(True):
        for _ in range(2):
            jit(lambda x: lax.sin(x))(X)
    assert explained(caplog) == (
        "<lambda> (another function object). Make the function, and jit it, once and outside of "
        "the loop that calls it."
    )


def test_the_nearest_call_is_compared_and_not_the_last(caplog: Any) -> None:
    f = jit(lambda x, y: lax.sin(x))
    with explain_cache_misses(True):
        f(X, X)
        f(X[:1], X[:1])
        caplog.clear()
        f(X, X[:2])
        assert explained(caplog).startswith("y: f32[2], before f32[3] (another shape).")


def test_a_function_inside_of_another_has_no_reason_of_its_own(caplog: Any) -> None:
    inner = jit(lambda x: lax.sin(x))
    outer = jit(lambda x: lax.mul(inner(x), 2.0))
    with explain_cache_misses(True):
        outer(X)
        outer(X[:2])
    assert len(said(caplog)) == 1


def test_derivatives_are_told_from_functions(caplog: Any) -> None:
    def f(x: Any) -> Any:
        return lax.mul(x, x)

    with explain_cache_misses(True):
        jit(f)(1.0)
        jit(grad(f))(1.0)
    assert not said(caplog)


def test_named_axes_of_vmap_and_of_a_mesh_are_told(caplog: Any) -> None:
    def sine(x: Any) -> Any:
        return lax.sin(x)

    f = jit(sine)

    def mapped(checked: bool) -> None:
        mesh = AbstractMesh((2,), ("x",))
        over = shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=checked)
        make_jaxpr(over)(X[:2])

    with explain_cache_misses(True):
        f(X[:1])
        vmap(f, axis_name=("i", "j"))(X[:2, None])
        (line,) = said(caplog)
    assert "the call: ('i', 'j') of size 2, before none (named axes). " in line
    mapped(checked=False)
    mapped(checked=True)
    *_, before, now = signatures(sine)
    (result,) = differences(sine, now, before)
    text = "the call: 'x' of size 2 (of a mesh), before 'x' of size 2 (of a mesh, unchecked)"
    assert result.change == text


def test_there_are_no_hooks_once_they_are_off() -> None:
    assert not has_hooks("dovetail_traced")
    with explain_cache_misses(True), log_compiles(True):
        with explain_cache_misses(False):
            assert has_hooks("dovetail_traced")
        with log_compiles(False):
            assert has_hooks("dovetail_compiled")
    assert not has_hooks("dovetail_traced") and not has_hooks("dovetail_compiled")
    config.update("log_compiles", True)
    with log_compiles(True):
        pass
    assert manager().is_registered(listener.hooks)
    config.update("log_compiles", False)
    assert not has_hooks("dovetail_traced")


def test_they_are_off_in_other_threads(monkeypatch: Any) -> None:
    monkeypatch.setattr(listener.hooks.history, "traced", None)
    with explain_cache_misses(True):
        thread = threading.Thread(target=lambda: jit(lambda x: lax.sin(x))(X))
        thread.start()
        thread.join()


def test_a_program_that_is_compiled_again_without_being_traced(caplog: Any) -> None:
    def f(x: Any) -> Any:
        return lax.sin(x)

    with explain_cache_misses(True):
        jit(f)(X)
        jit(f, compiler_options={"xla_cpu_enable_fast_math": True})(X)
    (line,) = said(caplog)
    assert re.fullmatch(
        r"f is compiled again at \S+test_options.py:\d+ \(\S+\): compiler options: "
        r"\{'xla_cpu_enable_fast_math': True\}, before \{\} \(other compiler options\). Give one "
        r"function one set of compiler options.",
        line,
    )


def test_what_was_forgotten_is_no_riddle(caplog: Any) -> None:
    f = jit(lambda x: lax.cos(x))
    with explain_cache_misses(True):
        f(X)
        clear_caches()
        f(X)
    assert explained(caplog).startswith("<lambda> (it was forgotten). Call clear_caches() less")


def test_functions_that_wrap_something_for_ever() -> None:
    from dovetail_profiler.misses.history import code_of

    class Anything:
        def __getattr__(self, name: str) -> Anything:
            if name == "__code__":
                raise AttributeError(name)
            return Anything()

    assert set(code_of(Anything())) == {Anything}
