"""The report: bounds on a machine, the text, the picture, the measured machine, the example."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from acme_roofline import Machine, measure, roofline

import dovetail
from dovetail import numpy as dnp

f32 = np.float32
M = Machine(flops=1e12, bandwidth=1e11, transcendental=10, name="a machine")


def f(x):
    y = x @ x
    return dnp.exp(y) + y


def report():
    return roofline(f, M)(np.ones((64, 64), f32))


def test_intensity_bound_and_time():
    product, rest = sorted(report().lines, key=lambda e: e.number)
    size = 64 * 64 * 4
    assert M.ridge == 10 and M.attainable(5) == 5e11 and M.attainable(100) == 1e12
    assert product.intensity == 2 * 64**3 / (2 * size) and product.bound == "compute"
    assert product.seconds == 2 * 64**3 / 1e12
    assert rest.work == 64 * 64 * (10 + 1) and rest.bound == "memory"
    assert rest.seconds == 2 * size / 1e11
    assert report().seconds == product.seconds + rest.seconds


def test_the_text():
    first = f.__code__.co_firstlineno
    assert str(report()).splitlines() == [
        "a machine: 1Tflop/s, 100GB/s, ridge at 10 flop/B",
        " time bound    flop/B   flop  bytes  line",
        f"  62% compute      16   524k  32.8k  test_report.py:{first + 1}  y = x @ x",
        f"  38% memory     1.38  45.1k  32.8k  test_report.py:{first + 2}  return dnp.exp(y) + y",
    ]


def test_a_function_that_does_nothing():
    found = roofline(lambda x: x, M)(1.0)
    assert found.lines == [] and found.seconds == 0
    assert "ridge" in str(found)


def test_operations_are_named_in_order():
    assert [e.what for e in report().operations] == ["dot_general", "exp", "add"]


def test_it_is_a_name_of_dovetail():
    assert dovetail.roofline is roofline


def test_a_machine_can_be_measured():
    found = measure()
    assert found.flops > 1e8 and found.bandwidth > 1e7 and found.name == "this machine"


def test_the_picture(tmp_path):
    pytest.importorskip("matplotlib")
    figure = report().plot(str(tmp_path / "a.svg"))
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    roof, bars = figure.axes
    assert [t.get_text() for t in roof.texts[:2]] == ["1", "2"]
    assert any("y = x @ x" in t.get_text() for t in bars.texts)
    heights = [c.get_offsets()[0] for c in roof.collections]
    np.testing.assert_allclose(heights[0], [16, 1e12])  # on the roof
    figure.canvas.draw()


def test_dots_of_one_intensity_do_not_cover_each_other():
    pytest.importorskip("matplotlib")

    def g(x):
        a = dnp.sin(x)
        b = dnp.sin(a)
        c = dnp.sin(b)
        return a, b, c

    figure = roofline(g, M)(np.ones(1000, f32)).plot()
    heights = {c.get_offsets()[0][1] for c in figure.axes[0].collections}
    assert len(heights) == 3


def test_the_picture_without_matplotlib():
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from acme_roofline import *\n"
        "try: roofline(lambda x: x + 1, Machine(1e12, 1e11))(1.0).plot()\n"
        "except ImportError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == (
        "the picture of a roofline needs matplotlib: pip install 'dovetail-roofline[picture]'"
    )


def test_the_transformer():
    names = runpy.run_path(str(Path(__file__).parents[1] / "transformer.py"))
    found = roofline(names["loss"], names["H100"])(*names["arguments"]())
    layers, d, t, h, k = 6, 512, 256, 8, 64
    products = layers * (4 * 2 * t * d * d + 2 * 2 * h * t * t * k + 2 * 2 * t * d * 4 * d)
    assert found.total.flops == pytest.approx(products, rel=0.01)
    backward = roofline(dovetail.grad(names["loss"]), names["H100"])(*names["arguments"]())
    assert backward.total.flops == pytest.approx(3 * products, rel=0.01)
    assert len(backward.lines) == len(found.lines)  # it is of the same lines


def test_importing_it_imports_no_surface():
    script = "import sys, acme_roofline; print('matplotlib' in sys.modules, 'jax' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=os.environ
    )
    assert done.stdout.strip() == "False False"
