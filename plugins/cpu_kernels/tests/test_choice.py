"""Where kernels are used: on the CPU, where XLA does not divide programs, and not when off."""

import subprocess
import sys

import numpy as np
import pytest

import dovetail
from dovetail import numpy as dnp
from dovetail_cpu_kernels import cpu_kernels

X = np.random.default_rng(0).standard_normal((8, 100)).astype(np.float32)


def test_explain_names_the_kernel():
    command = [sys.executable, "-m", "dovetail_cli", "explain", "sort", "backends.stablehlo"]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "overriding another" in said and "dovetail_cpu_kernels" in said
    assert "in place of" in said and "dovetail_lax.rules.stablehlo.sorting" in said


def test_the_option_switches_them_off_in_eager_code_too():
    def sort(x):
        return dnp.sort(x)

    texts = []
    for used in (True, False):
        with cpu_kernels(used):
            texts.append("dovetail_cpu_sort" in dovetail.jit(sort).lower(X).as_text())
            assert np.array_equal(dnp.sort(X), np.sort(X))
    assert texts == [True, False]


PARTITIONED = """
import numpy as np, dovetail
from dovetail import lax, numpy as dnp
from dovetail.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(dovetail.devices()), ("i",))
x = np.random.default_rng(0).standard_normal((8, 100)).astype(np.float32)
for spec in (P("i", None), P(None, "i"), P()):
    y = dovetail.device_put(x, NamedSharding(mesh, spec))
    lowered = dovetail.jit(lambda x: (dnp.sort(x, axis=1), dnp.argsort(x, axis=0))).lower(y)
    assert "dovetail_cpu" not in lowered.as_text()
    values, places = lowered.compile()(y)
    assert np.array_equal(values, np.sort(x, axis=1))
    assert np.array_equal(places, np.argsort(x, axis=0, kind="stable"))
mapped = dovetail.shard_map(dnp.sort, mesh=mesh, in_specs=P("i"), out_specs=P("i"))
lowered = dovetail.jit(mapped).lower(y)
assert "dovetail_cpu_sort" in lowered.as_text()
assert np.array_equal(lowered.compile()(x), np.sort(x, axis=1))
two = Mesh(np.array(dovetail.devices()).reshape(2, 2), ("i", "j"))
partly = dovetail.shard_map(
    dnp.sort, mesh=two, in_specs=P("i"), out_specs=P("i"), axis_names={"i"}
)
lowered = dovetail.jit(partly).lower(dovetail.device_put(x, NamedSharding(two, P("i", "j"))))
assert "dovetail_cpu" not in lowered.as_text()
assert np.array_equal(lowered.compile()(x), np.sort(x, axis=1))
bf16 = x[:, :80].repeat(10, 0).astype(dnp.bfloat16)
z = dovetail.device_put(bf16, NamedSharding(mesh, P("i", None)))
wide = bf16.astype(np.float32)
for product, exact in (
    (lambda z: z @ z, wide @ wide),
    (lambda z: lax.dot_general(z, z, (((0,), (0,)), ((), ()))), wide.T @ wide),
):
    lowered = dovetail.jit(product).lower(z)
    assert "dovetail_cpu" not in lowered.as_text()
    assert np.allclose(lowered.compile()(z).astype(np.float32), exact, rtol=0.01, atol=1e-4)
image, kernel = np.ones((4, 9, 9, 8), np.float32), np.ones((3, 3, 1, 8), np.float32)
conv = lambda x, k: lax.conv_general_dilated(
    x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=8
)
divided = dovetail.device_put(image, NamedSharding(mesh, P("i")))
lowered = dovetail.jit(dovetail.grad(lambda k, x: conv(x, k).sum())).lower(kernel, divided)
assert "dovetail_cpu" not in lowered.as_text()
assert lowered.compile()(kernel, divided).max() == 4 * 81
print("right")
"""


def test_divided_programs_are_left_to_xla(monkeypatch):
    monkeypatch.setenv("DOVETAIL_NUM_CPU_DEVICES", "4")
    done = subprocess.run([sys.executable, "-c", PARTITIONED], capture_output=True, text=True)
    assert done.stdout == "right\n", done.stderr


CACHED = """
import numpy as np, dovetail
from dovetail import numpy as dnp
x = np.arange(1000, dtype=np.float32)[::-1]
assert np.array_equal(dovetail.jit(lambda x: dnp.sort(x) + 1)(x), np.sort(x) + 1)
"""


@pytest.mark.parametrize("name", ["baseline", "avx2"])
def test_other_instruction_sets(monkeypatch, name):
    monkeypatch.setenv("DOVETAIL_CPU_KERNELS_ISA", name)
    subprocess.run([sys.executable, "-W", "error", "-c", CACHED], check=True)


def test_programs_from_the_disk_cache_find_their_kernels(monkeypatch, tmp_path):
    monkeypatch.setenv("DOVETAIL_COMPILATION_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("DOVETAIL_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    for _ in range(2):
        subprocess.run([sys.executable, "-W", "error", "-c", CACHED], check=True)


def test_a_library_that_is_not_there_leaves_everything_to_xla(monkeypatch, tmp_path):
    code = (
        "from pathlib import Path; from dovetail_cpu_kernels import library; "
        f"library.FILE = Path({str(tmp_path / 'none.so')!r})\n{CACHED}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0
    assert "were not built" in done.stderr and "pip install ./plugins/cpu_kernels" in done.stderr
