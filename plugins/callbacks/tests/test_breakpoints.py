"""Breakpoints in programs: where they stop, with which values; and log lines."""

import bdb
import logging
import sys

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_batching import vmap
from dovetail_callbacks.breakpoints import breakpoint
from dovetail_callbacks.debug import log
from dovetail_jit import effects_barrier, jit


@pytest.fixture
def stops(monkeypatch):
    result = []

    def hook(*args):
        frame = sys._getframe(1)
        outer = frame.f_back
        while "callback" in outer.f_code.co_filename or outer.f_code.co_name == "<lambda>":
            outer = outer.f_back
        variables = {k: v for k, v in frame.f_locals.items() if not k.startswith("__")}
        result.append((frame.f_code.co_name, frame.f_lineno, variables, outer))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    return result


def doubled(x, note="kept"):
    y = {"twice": x * 2}
    breakpoint(num_frames=2)
    return y["twice"]


@pytest.mark.parametrize("f", [doubled, jit(doubled), grad(doubled)], ids=["eager", "jit", "grad"])
def test_it_stops_at_the_line_with_the_values(stops, f):
    f(3.0)
    effects_barrier()
    ((name, line, variables, _),) = stops
    assert name == "doubled"
    assert line == doubled.__code__.co_firstlineno + 2
    np.testing.assert_array_equal(variables["x"], 3)
    np.testing.assert_array_equal(variables["y"]["twice"], 6)
    assert variables["note"] == "kept"


def test_once_for_each_element(stops):
    jit(vmap(doubled))(np.arange(3.0, dtype=np.float32))
    effects_barrier()
    assert sorted(float(v["x"]) for _, _, v, _ in stops) == [0, 1, 2]


def test_frames_around_it_and_odd_variables(stops):
    odd = {1, 2}

    def inner(x):
        breakpoint(ordered=True)
        return x

    def outer(z):
        unhashable, module, numbers = odd, np, (i for i in range(3))
        return inner(z + 1), unhashable, module, numbers

    jit(lambda z: outer(z)[0])(np.float32(1))
    effects_barrier()
    ((name, _, variables, _),) = stops
    assert name == "inner"
    np.testing.assert_array_equal(variables["x"], 2)


def test_the_debugger_can_end_the_program(monkeypatch):
    def leave():
        raise bdb.BdbQuit

    monkeypatch.setattr(sys, "breakpointhook", leave)
    with pytest.raises(bdb.BdbQuit):
        jit(doubled)(1.0)
        effects_barrier()


def test_what_it_refuses():
    with pytest.raises(ValueError, match=r"no backend 'web_pdb' at .*PYTHONBREAKPOINT"):
        breakpoint(backend="web_pdb")
    with pytest.raises(ValueError, match="num_frames is at least 1, got 0"):
        breakpoint(num_frames=0)
    with pytest.raises(NotImplementedError, match="pass ordered=True"):
        breakpoint(token=1)


def test_lines_are_logged(caplog):
    with caplog.at_level(logging.INFO, "dovetail.debug"):
        jit(lambda x: log("x = {x}, {}", dnp.int32(2), x=x))(1.5)
        effects_barrier()
    assert [r.getMessage() for r in caplog.records] == ["x = 1.5, 2"]
    with pytest.raises(KeyError, match="the format asks for argument 'z'"):
        log("{z}")
