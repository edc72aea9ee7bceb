"""Compiled programs as bytes, and topologies."""

from __future__ import annotations

import pickle
import subprocess
import sys

import numpy as np
import pytest

import dovetail as dt
from dovetail import NamedSharding, P
from dovetail.experimental import topologies
from dovetail.experimental.serialize_executable import deserialize_and_load, serialize

X = np.arange(32, dtype=np.float32).reshape(8, 4)


def test_on_one_device():
    big = dt.numpy.asarray(np.arange(4000, dtype=np.float32))
    compiled = dt.jit(lambda a, *, b: {"o": a * 2 + b, "s": big.sum()}).lower(X, b=1.0).compile()
    again = deserialize_and_load(*serialize(compiled))
    out = again(X, b=1.0)
    np.testing.assert_array_equal(out["o"], X * 2 + 1)
    assert out["s"] == big.sum()
    assert again.in_avals == compiled.in_avals and "HloModule" in again.as_text()
    with pytest.raises(TypeError, match=r"takes f32.8,4. as leaf 0 of its arguments"):
        again(X[0], b=1.0)
    keys = dt.random.split(dt.random.key(0), 3)
    drawn = dt.jit(lambda k: (dt.random.fold_in(k[0], 1), dt.random.bits(k[1]))).lower(keys)
    key, bits = deserialize_and_load(*serialize(drawn.compile()))(keys)
    assert key == dt.random.fold_in(keys[0], 1) and bits == dt.random.bits(keys[1])


def test_in_another_process(tmp_path):
    compiled = dt.jit(lambda a, b: a @ b).lower(X, X.T).compile()
    (tmp_path / "program").write_bytes(pickle.dumps(serialize(compiled)))
    code = (
        "import pickle, numpy as np\n"
        "from dovetail.experimental.serialize_executable import deserialize_and_load\n"
        "x = np.arange(32, dtype=np.float32).reshape(8, 4)\n"
        f"f = deserialize_and_load(*pickle.load(open({str(tmp_path / 'program')!r}, 'rb')))\n"
        "assert np.allclose(f(x, x.T), x @ x.T)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_on_several_devices():
    code = (
        "import numpy as np, dovetail as dt\n"
        "from dovetail import NamedSharding, P\n"
        "from dovetail.experimental.serialize_executable import deserialize_and_load, serialize\n"
        "x = np.arange(32, dtype=np.float32).reshape(8, 4)\n"
        "d = dt.devices()\n"
        "mesh = dt.sharding.Mesh(np.array(d[:4]), ('x',))\n"
        "at = NamedSharding(mesh, P('x'))\n"
        "f = dt.jit(lambda a: (a * 2, a.sum()), out_shardings=(at, None))\n"
        "saved = serialize(f.lower(dt.device_put(x, at)).compile())\n"
        "out, total = deserialize_and_load(*saved)(dt.device_put(x, at))\n"
        "assert np.array_equal(out, x * 2) and out.sharding == at and total == x.sum()\n"
        "other = NamedSharding(dt.sharding.Mesh(np.array(d[4:]), ('x',)), P('x'))\n"
        "g = deserialize_and_load(*saved, execution_devices=d[4:])\n"
        "out, total = g(dt.device_put(x, other))\n"
        "assert np.array_equal(out, x * 2) and out.sharding == other\n"
        "try: deserialize_and_load(*saved, execution_devices=d)\n"
        "except ValueError as e: assert 'for 4 devices, and execution_devices has 8' in str(e)\n"
        "else: assert False\n"
    )
    subprocess.run(
        [sys.executable, "-c", code], check=True, timeout=120,
        env={**__import__("os").environ, "DOVETAIL_NUM_CPU_DEVICES": "8"},
    )  # fmt: skip


def test_errors():
    shape = dt.ShapeDtypeStruct((8, 4), np.float32)
    calls = dt.jit(lambda a: dt.pure_callback(np.sin, shape, a)).lower(X).compile()
    with pytest.raises(ValueError, match=r"serialize of <lambda>.*calls Python, has effects"):
        serialize(calls)
    with pytest.raises(ValueError, match=r"takes what jit\(f\).lower\(...\).compile\(\) returns"):
        serialize(dt.jit(lambda a: a).lower(X))
    with pytest.raises(ValueError, match="these bytes are not from serialize"):
        deserialize_and_load(b"abc", None, None)


def test_topologies(devices):
    there = topologies.get_attached_topology()
    assert there.devices == dt.devices()
    mesh = topologies.make_mesh(topologies.TopologyDescription(devices), (4, 2), ("x", "y"))
    assert mesh.shape_tuple == (("x", 4), ("y", 2))
    with pytest.raises(NotImplementedError, match="there are no topologies of the platform 'cpu'"):
        topologies.get_topology_desc("a", platform="cpu")
    with pytest.raises(ValueError, match="has 6 devices, and 8 are given"):
        topologies.make_mesh(topologies.TopologyDescription(devices), (3, 2), ("x", "y"))
    assert NamedSharding(mesh, P("x")).num_devices == 8
