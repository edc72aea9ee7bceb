"""Keeping `jax` out of the process, and priming C++ so that it never looks for it again."""

from __future__ import annotations

import pytest

FAKE_JAX = "import os, pathlib; pathlib.Path(os.environ['MARK']).write_text('imported')"

PRELUDE = """
import sys
import numpy as np
from dovetail_xla import arrays, client, execution, options, shardings, startup
from dovetail_xla import bindings as b

class Aval:
    def __init__(self, shape, dtype, weak_type=False):
        self.shape, self.dtype, self.weak_type = shape, np.dtype(dtype), weak_type

def use_every_lookup(cpu):
    device = cpu.devices()[0]
    x = arrays.put(np.ones(3, "f4"), Aval((3,), "f4"), device)
    imported = arrays.from_dlpack(arrays.to_dlpack(x), device)
    text = ("module { func.func public @main(%a: tensor<3xf32>) -> tensor<3xf32> "
            "{ return %a : tensor<3xf32> } }")
    program = execution.compile(
        cpu, text, client.device_list([device]), options.compile_options(cpu))
    made = program.execute_sharded([x]).disassemble_into_single_device_arrays()[0][0]
    class Mesh:
        size = 1
        _internal_device_list = client.device_list([device])
    shardings.NamedSharding(Mesh(), ("x",))
    if b.shard_args is not None:
        sharding = shardings.single_device_sharding(device)
        keep = [b.ArrayCopySemantics.REUSE_INPUT]
        b.shard_args([sharding], [None], keep, [np.ones(3, "f4")], lambda *a: [x])
    return imported, made
"""

SPY = """
import sys
asked = []
class Spy:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "jax":
            asked.append(name)
"""


@pytest.fixture
def installed_jax(tmp_path, monkeypatch):
    """A directory with a package `jax` that leaves a mark when it is really imported."""
    package = tmp_path / "site" / "jax"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(FAKE_JAX)
    (package / "core.py").write_text("")
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    return tmp_path / "site"


def _succeeds(result):
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_importing_after_jax_is_refused(fresh_python, installed_jax):
    code = """
import jax
try:
    import dovetail_xla
except ImportError as error:
    print(error)
"""
    said = _succeeds(fresh_python(code, installed_jax))
    assert said.startswith(
        "dovetail cannot be imported: the package `jax` is already imported. "
        "Both drive one C++ runtime per process"
    )
    assert "separate processes" in said


def test_a_later_import_of_jax_is_refused(fresh_python, installed_jax, tmp_path):
    code = """
import importlib.util, sys
import dovetail_xla
assert importlib.util.find_spec("jax").origin.endswith("jax/__init__.py")
for statement in ("import jax", "import jax.core", "from jax import core"):
    try:
        exec(statement)
    except ModuleNotFoundError as error:
        print(error)
assert "jax" not in sys.modules
"""
    lines = _succeeds(fresh_python(code, installed_jax)).splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith(
            "`jax` cannot be imported: this process already uses dovetail. Both drive one C++"
        )
    assert not (tmp_path / "mark").exists()


def test_without_an_installed_jax_the_usual_error_is_raised(fresh_python, tmp_path):
    code = """
import importlib.util, sys
import dovetail_xla
from dovetail_xla import startup
class Absent:  # this environment may have the package
    def find_spec(self, name, path=None, target=None): return None
sys.meta_path[:] = [f for f in sys.meta_path if isinstance(f, startup._JaxFinder)] + [Absent()]
assert importlib.util.find_spec("jax") is None
try:
    import jax
except ModuleNotFoundError as error:
    print(error)
"""
    assert _succeeds(fresh_python(code)) == "No module named 'jax'\n"


def test_cpp_never_imports_an_installed_jax(fresh_python, installed_jax, tmp_path):
    code = f"{PRELUDE}\nuse_every_lookup(client.make_cpu_client())\nassert 'jax' not in sys.modules"
    _succeeds(fresh_python(code, installed_jax))
    assert not (tmp_path / "mark").exists()


def test_once_primed_cpp_makes_no_import_attempt(fresh_python):
    code = f"""{SPY}{PRELUDE}
cpu = client.make_cpu_client()
assert startup.is_primed()
sys.meta_path.insert(0, Spy())
use_every_lookup(cpu)
use_every_lookup(client.make_cpu_client(2))
print(asked)
"""
    assert _succeeds(fresh_python(code)) == "[]\n"


def test_no_stand_in_stays_behind(fresh_python):
    code = f"""{PRELUDE}
client.make_cpu_client()
print({{n: sys.modules[n] for n in sys.modules if n.split(".")[0] == "jax"}})
"""
    assert _succeeds(fresh_python(code)) == "{'jax._src.sharding_impls': None}\n"


def test_arrays_made_by_cpp_carry_our_avals(fresh_python):
    code = f"""{PRELUDE}
startup.prime(lambda shape, dtype, weak_type: ("first", shape, dtype.name, weak_type))
cpu = client.make_cpu_client()
for array in use_every_lookup(cpu): print(array.aval)
"""
    first = "('first', (3,), 'float32', False)\n"
    assert _succeeds(fresh_python(code)) == first + first


def test_named_shardings_are_checked_by_our_function(fresh_python):
    code = f"""{PRELUDE}
def check(mesh, spec):
    if spec == ("x",): raise ValueError("checked x")
startup.check_specs(check)
try: use_every_lookup(client.make_cpu_client())
except ValueError as error: print(error)
"""
    assert _succeeds(fresh_python(code)) == "checked x\n"


def test_starting_prints_nothing(fresh_python):
    result = fresh_python(f"{PRELUDE}\nuse_every_lookup(client.make_cpu_client())")
    assert (_succeeds(result), result.stderr) == ("", "")


def test_a_log_level_of_the_user_is_kept(fresh_python):
    code = "import os, dovetail_xla\nprint(os.environ['TF_CPP_MIN_LOG_LEVEL'])"
    assert _succeeds(fresh_python(code, TF_CPP_MIN_LOG_LEVEL="0")) == "0\n"
    assert _succeeds(fresh_python(code)) == "1\n"


def test_importing_the_adapter_loads_no_mlir_and_no_scipy(fresh_python):
    code = f"""{PRELUDE}
from dovetail_xla import config, execution, ffi, lapack, mlir
print([n for n in sys.modules if n.startswith(("jaxlib.mlir", "scipy", "jaxlib.xla_client"))])
"""
    assert _succeeds(fresh_python(code)) == "[]\n"
