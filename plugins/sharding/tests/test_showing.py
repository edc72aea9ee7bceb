"""Where arrays are, shown: pictures in text, callbacks, types."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import dovetail as dt
from dovetail import NamedSharding, P, debug, lax, random, set_mesh, shard_map
from dovetail.sharding import SingleDeviceSharding, get_abstract_mesh

X = np.arange(32, dtype=np.float32).reshape(8, 4)

GRID = """\
┌───────┬───────┐
│ CPU 0 │ CPU 1 │
├───────┼───────┤
│ CPU 2 │ CPU 3 │
├───────┼───────┤
│ CPU 4 │ CPU 5 │
├───────┼───────┤
│ CPU 6 │ CPU 7 │
└───────┴───────┘
"""
LINE = """\
┌───────┬───────┬───────┬───────┐
│CPU 0,1│CPU 2,3│CPU 4,5│CPU 6,7│
└───────┴───────┴───────┴───────┘
"""


def test_pictures(mesh, capsys):
    debug.visualize_array_sharding(dt.device_put(X, NamedSharding(mesh, P("x", "y"))))
    assert capsys.readouterr().out == GRID
    debug.visualize_sharding((8,), NamedSharding(mesh, P("x")), use_color=False)
    assert capsys.readouterr().out == LINE
    debug.visualize_array_sharding(dt.device_put(X, NamedSharding(mesh, P(None, "y"))))
    shown = capsys.readouterr().out.splitlines()
    assert shown[5] == "│CPU 0,2,4,6│CPU 1,3,5,7│" and len(shown) == 11
    with pytest.raises(ValueError, match=r"one and two dimensions, got shape \(8, 4, 1\)"):
        debug.visualize_sharding((8, 4, 1), NamedSharding(mesh, P("x")))


def test_drawings(mesh, capsys, monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    x = dt.device_put(X, NamedSharding(mesh, P("x", "y")))
    ax = debug.visualize_array_sharding(x, plot=True)
    assert [t.get_text() for t in ax.texts] == [f"CPU\n{i}" for i in range(8)]
    assert [p.get_xy() for p in ax.patches][:3] == [(0, 0), (2, 0), (0, 2)]
    assert ax.get_title() == f"(8, 4) by {P('x', 'y')}" and ax.get_ylim() == (8, 0)
    assert debug.visualize_sharding((8,), NamedSharding(mesh, P("x")), plot=ax) is ax
    debug.visualize_array_sharding(
        x, plot=tmp_path / "placement.png", color_map=lambda v: (0, v, 0)
    )
    assert (tmp_path / "placement.png").read_bytes()[:4] == b"\x89PNG"
    assert capsys.readouterr().out == ""
    with pytest.raises(TypeError, match=r"plot is of type int; give True, the name of a file"):
        debug.visualize_array_sharding(x, plot=1)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'dovetail\[viz\]'"):
        debug.visualize_array_sharding(x, plot=True)


def test_colours(mesh, capsys, monkeypatch):
    pytest.importorskip("rich")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLORTERM", "truecolor")
    given = []

    def color_map(x):
        given.append(x)
        return 1.0, x, 0.0

    place = NamedSharding(mesh, P("x"))
    debug.visualize_sharding((8,), place, color_map=color_map)
    assert given == [0, 0.25, 0.5, 0.75]
    assert "48;2;255;63;0" in capsys.readouterr().out


def test_inspection(mesh):
    seen: list = []
    x = dt.device_put(X, NamedSharding(mesh, P("x", "y")))
    debug.inspect_array_sharding({"a": x}, callback=seen.append)
    assert seen == [NamedSharding(mesh, P("x", "y"))]

    @dt.jit
    def f(x):
        y = dt.numpy.sin(x).T
        debug.inspect_array_sharding(y, callback=seen.append)
        return y.sum()

    seen.clear()
    f(x), f(x)
    assert seen == [NamedSharding(mesh, P("y", "x"))]
    dt.grad(f)(x)
    seen.clear()
    f(X)
    assert isinstance(seen[0], SingleDeviceSharding)
    with pytest.raises(TypeError, match="callback must be a function"):
        debug.inspect_array_sharding(x, callback=3)


def test_types(mesh):
    none = dt.typeof(X).sharding
    assert none.mesh.empty and none.spec == P(None, None)
    with set_mesh(mesh):
        assert dt.typeof(X).sharding == NamedSharding(mesh.abstract_mesh, P(None, None))

    def f(a, b):
        assert dt.typeof(a).sharding.mesh == get_abstract_mesh()
        assert dt.typeof(a).sharding.mesh.manual_axes == ("x", "y")
        types = [dt.typeof(v).vma for v in (a, b, a + b, lax.psum(a, "x"), lax.axis_index("y"))]
        assert types == [{"x", "y"}, set(), {"x", "y"}, {"y"}, {"y"}]
        assert dt.vmap(lambda r: r * b)(a).aval.vma == {"x", "y"}
        assert str(dt.typeof(a)) == "float32[2,2]{V:(x,y)}"
        return a

    shard_map(f, mesh=mesh, in_specs=(P("x", "y"), P()), out_specs=P("x", "y"))(X, 1.0)


def test_a_sharding_that_divides_no_axis_may_be_asked_of_any_function() -> None:
    """Libraries hand on the sharding of a type (flax's dropout does)."""
    for given in (dt.typeof(X).sharding, P(None), P()):
        assert random.bernoulli(random.key(0), 0.5, X.shape, out_sharding=given).shape == X.shape
    with pytest.raises(ValueError, match=r"out_sharding has a PartitionSpec .* no mesh is set"):
        random.normal(random.key(0), (2,), out_sharding=P("x"))
