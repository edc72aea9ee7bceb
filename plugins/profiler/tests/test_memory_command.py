"""``dovetail memory``: liveness against counts by hand, owners, the compiler's sizes, the page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_cli import main
from dovetail_jit import ShapeDtypeStruct, fused, jit
from dovetail_profiler.memory.analysis import memory_of, sizes, sparkline, text_of
from dovetail_profiler.memory.liveness import Liveness
from dovetail_profiler.memory.page import page

from .test_profile_command import Tags

VECTOR = ShapeDtypeStruct((25,), np.float32)
"""100 bytes."""


def memory(f: Any, *args: Any, **options: Any) -> Any:
    return memory_of(jit(f, **options).trace(*args), "f")


def live(f: Any, *args: Any, **options: Any) -> Liveness:
    return memory(f, *args, **options).live


def test_a_value_is_there_from_its_operation_to_its_last_use() -> None:
    def f(x: Any) -> Any:
        y = lax.sin(x)
        z = lax.cos(y)
        return lax.add(lax.exp(z), x)

    result = live(f, VECTOR)
    assert [s.operation for s in result.steps] == ["sin", "cos", "exp", "add"]
    assert result.timeline == [200, 300, 300, 300]
    assert [b.kind for b in result.buffers][-1] == "result"


def test_a_value_that_is_used_late_is_kept() -> None:
    def f(x: Any) -> Any:
        y = lax.sin(x)
        z = lax.cos(lax.exp(y))
        return lax.add(y, z)

    result = live(f, VECTOR)
    assert result.timeline == [200, 300, 400, 400]
    assert result.peak_at == 2
    assert [b.name for b in result.alive(2)] == ["x", "sin", "exp", "cos"]


def test_arguments_that_are_given_away_are_gone_after_their_last_use() -> None:
    def f(x: Any) -> Any:
        return lax.cos(lax.sin(x))

    assert live(f, VECTOR).timeline == [200, 300]
    assert live(f, VECTOR, donate_argnums=0).timeline == [200, 200]


def test_what_nobody_uses_is_not_there() -> None:
    def f(x: Any) -> Any:
        lax.exp(x)
        return lax.sin(x)

    assert live(f, VECTOR).timeline == [200]


def test_views_have_no_memory() -> None:
    def f(x: Any) -> Any:
        wide = lax.broadcast_in_dim(lax.sin(x), (40, 25), (1,))
        return lax.reduce_sum(wide, (0, 1))

    assert live(f, VECTOR).timeline == [200, 204]
    assert live(lambda x: lax.add(x, lax.full((25,), 2.0)), VECTOR).timeline == [200]


def test_a_view_that_is_returned_is_written_out() -> None:
    def f(x: Any) -> Any:
        y = lax.sin(x)
        return lax.broadcast_in_dim(y, (40, 25), (1,)), lax.full((25,), 2.0)

    assert live(f, VECTOR).timeline == [100 + 100 + 4000 + 100]


def test_constants_are_there_all_the_time() -> None:
    held = np.ones(50, np.float32)

    def f(x: Any) -> Any:
        return lax.sin(x), lax.cos(held)

    assert live(f, VECTOR).timeline == [100 + 200 + 100, 100 + 200 + 100 + 200]


def test_calls_are_taken_apart() -> None:
    inner = jit(lambda x: lax.cos(lax.sin(x)))
    result = live(lambda x: lax.exp(inner(x)), VECTOR)
    assert [s.operation for s in result.steps] == ["sin", "cos", "exp"]
    assert result.timeline == [200, 300, 300]


def test_of_a_loop_one_iteration_is_shown() -> None:
    def f(x: Any) -> Any:
        def body(c: Any, row: Any) -> Any:
            return lax.mul(lax.sin(c), row), lax.reduce_sum(c, (0,))

        return lax.scan(body, x, lax.broadcast_in_dim(lax.cos(x), (10, 25), (1,)))

    result = live(f, VECTOR)
    inside = [s for s in result.steps if s.loops]
    assert {s.loops for s in inside} == {("scan",)} and len(inside) == 3
    peak = result.alive(result.peak_at)
    assert {"x", "cos", "scan", "scan: one step's input"} <= {b.name for b in peak}


def test_of_branches_the_larger_one_counts() -> None:
    def small(x: Any) -> Any:
        return lax.sin(x)

    def large(x: Any) -> Any:
        a, b = lax.sin(x), lax.cos(x)
        return lax.add(lax.exp(a), lax.exp(b))

    both = live(lambda p, x: lax.cond(p, large, small, x), True, VECTOR)
    alone = live(lambda p, x: lax.cond(p, small, small, x), True, VECTOR)
    assert max(both.timeline) - max(alone.timeline) == 200


def test_a_program_of_nothing() -> None:
    result = memory(lambda x: x, VECTOR)
    assert result.peak == 100 and "  peak 100 B at rest\n" in text_of(result)
    result = memory(lambda: 1.0)
    assert [(o.location, o.nbytes) for o in result.owners] == [("results", 4)] and page(result)


def test_the_peak_belongs_to_lines_and_arguments() -> None:
    def f(state: Any) -> Any:
        y = lax.sin(state["a"])
        return lax.add(lax.mul(y, y), state["b"])

    result = memory(f, {"a": VECTOR, "b": VECTOR})
    line = f.__code__.co_firstlineno
    owners = {o.location: (o.nbytes, o.what, o.code) for o in result.owners}
    named = [f"plugins/profiler/tests/test_memory_command.py:{line + n}" for n in (1, 2)]
    keys = {n: next(k for k in owners if n in k) for n in named}
    assert owners["argument state"] == (200, "2 x f32[25]", "")
    assert owners[keys[named[0]]] == (100, "f32[25] from sin", 'y = lax.sin(state["a"])')
    assert owners[keys[named[1]]][0] == 100
    assert sum(size for size, _, _ in owners.values()) == result.peak == 400


def test_the_sizes_stand_beside_those_of_the_compiler() -> None:
    result = memory(lambda x: lax.dot(lax.sin(x), x), VECTOR)
    shown = {kind: (ours, theirs) for kind, ours, theirs in sizes(result)}
    stats = jit(lambda x: lax.dot(lax.sin(x), x)).lower(VECTOR).compile().memory_analysis()
    assert shown["argument"] == ("100 B", f"{stats.argument_size_in_bytes} B")
    assert shown["result"] == ("4 B", f"{stats.output_size_in_bytes} B")
    assert shown["together"][0] == "204 B"


def test_a_long_program_is_drawn_by_its_highest_steps() -> None:
    def f(x: Any) -> Any:
        for i in range(1000):
            x = lax.sin(x) if i != 777 else lax.add(lax.exp(x), lax.cos(x))
        return x

    result = memory(f, VECTOR)
    shown = page(result)
    assert result.peak == 400 and len(result.live.steps) == 1002
    assert "peak 400 B" in shown and shown.count('class="step"') == 334 and "779: cos at" in shown


def test_a_line_of_bars() -> None:
    assert sparkline([0, 7]) == "▁█" and sparkline([0, 0]) == "▁▁"
    assert sparkline([1, 8, 1, 4], width=2) == "█▅"
    assert len(sparkline(list(range(1000)))) == 80


SCRIPT = """
import dovetail.numpy as dnp


def f(x, factor=2.0):
    return dnp.sum(dnp.sin(x) * factor)


def g(x):
    return dnp.exp(x)


def g_args():
    return [1.5]
"""


@pytest.fixture
def script(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.py").write_text(SCRIPT)


def test_the_table_in_the_terminal(script: None, capsys: Any) -> None:
    assert main(["memory", "script.py:f", "float32[128,256]", "3.0"]) == 0
    shown = re.sub(" +", " ", capsys.readouterr().out)
    assert shown.startswith(
        "live memory of f(x: f32[128,256], factor: f32[]~)\n"
        " peak 393 kB at step 2 of 3: mul at script.py:6 (f)\n "
    )
    assert "262 kB 67% script.py:6 (f) f32[128,256] from sin; f32[128,256] from mul" in shown
    assert "return dnp.sum(dnp.sin(x) * factor)\n" in shown
    assert "131 kB 33% argument x f32[128,256]" in shown
    assert "memory program, at its peak as compiled (cpu)\nargument 131 kB 131 kB\n" in shown


def test_arguments_of_the_script(script: None, capsys: Any) -> None:
    assert main(["memory", "script.py:g"]) == 0
    assert capsys.readouterr().out.startswith(
        "live memory of g(x: f32[]~)\n  peak 8 B at step 1 of"
    )


def test_the_picture(script: None, capsys: Any) -> None:
    assert main(["memory", "script.py:f", "f32[128,256]", "--html", "m.html"]) == 0
    assert capsys.readouterr().out.endswith("\nwrote m.html\n")
    shown = Tags()
    shown.feed(Path("m.html").read_text())
    shown.close()
    text = "".join(shown.text)
    assert shown.open == [] and shown.counts["svg"] == 1 and shown.counts["table"] == 2
    assert shown.counts["path"] == 2, "one area for each owner"
    assert "peak 393 kB" in text and "2: mul at script.py:6 (f)" in text


def test_wrong_command_lines(script: None, capsys: Any) -> None:
    example = "for example: dovetail memory script.py:loss 'f32[8,4]' 'i32[8]'"
    for given, said in (
        (["none.py:f"], f"there is no file 'none.py'; {example}"),
        (["script.py"], f"expected SCRIPT:FUNCTION, got 'script.py'; {example}"),
        (["script.py:h"], "script.py has no function 'h'; it has f, g, g_args"),
        (["script.py:f", "g32[2]"], "'g32[2]' is not a type; write dovetail memory script.py:loss"),
        (
            ["script.py:f"],
            "f does not take these arguments: missing a required argument: 'x'. Give",
        ),
        (["script.py:g", "--html", "no/x.html"], "--html: 'no/x.html' cannot be written: No such"),
    ):
        assert main(["memory", *given]) == 2
        assert capsys.readouterr().err.startswith(f"dovetail: error: {said}")


def test_operations_of_a_shared_program_belong_to_the_line_of_the_call() -> None:
    @fused(shared=True)
    def shared(x: Any) -> Any:
        return lax.cos(lax.sin(x))

    def f(x: Any) -> Any:
        y = shared(x)
        return shared(y)

    first = f.__code__.co_firstlineno
    places = [s.source for s in live(f, VECTOR).steps]
    assert [s and s.line for s in places] == [first + 1, first + 1, first + 2, first + 2]
