"""From the hook on ``import jax`` answers with Dovetail, however it was installed."""

from __future__ import annotations

import textwrap

import pytest

NAMES = """
import importlib, importlib.util, sys
import jax
import jax.numpy as jnp
import jax.scipy.stats.norm
from jax import lax, random
from jax.tree_util import tree_map
import dovetail, dovetail.numpy, dovetail.scipy.stats.norm

assert jax.__version__ == "0.10.2+dovetail" == jax.version.__version__
assert jax.__version_info__ == (0, 10, 2) and jax.__name__ == "jax"
assert jnp is dovetail.numpy is jax.numpy is sys.modules["jax.numpy"]
assert jax.jit is dovetail.jit and jax.Array is dovetail.Array and lax is dovetail.lax
assert jax.scipy.stats.norm is dovetail.scipy.stats.norm
assert importlib.import_module("jax.nn") is dovetail.nn is jax.nn
assert jnp.__spec__.name == "dovetail.numpy" and "numpy" in dir(jax) and "sin" in dir(jnp)
assert isinstance(jnp.ones(3), jax.Array) and float(jax.grad(jnp.sin)(0.0)) == 1.0
assert importlib.util.find_spec("jax.numpy") is not None
assert importlib.util.find_spec("jax.experimental.fused") is None
assert not hasattr(jax, "custom") and hasattr(dovetail, "custom")  # it is not JAX's
print("answered")
"""

ABSENT = """
import jax, jax.numpy
def told(statement):
    try:
        exec(statement)
    except Exception as e:
        print(type(e).__name__, e)
told("import jax.experimental.fused")
told("from jax import xla_computation")
told("jax.xla_computation")
told("from jax.numpy import nothing")
told("jax.lax.psend")
told("import jax.nothing")
told("from jax.config import config")
assert not hasattr(jax, "xla_computation")
"""

REASON = "JAX 0.10.2 has jax.{}. Dovetail does not have it"


@pytest.mark.parametrize("how", ["import", "command", "module", "environment", "pytest"])
def test_names_are_dovetails(python, tmp_path, how: str) -> None:
    script = tmp_path / "test_script.py"
    script.write_text(NAMES if how != "pytest" else f"def test():{textwrap.indent(NAMES, '    ')}")
    done = {
        "import": lambda: python("-c", f"import dovetail.jax\n{NAMES}"),
        "command": lambda: python("-m", "dovetail_cli", "run", str(script)),
        "module": lambda: python("-m", "dovetail.jax", str(script)),
        "environment": lambda: python(str(script), DOVETAIL_AS_JAX="1"),
        "pytest": lambda: python("-m", "pytest", "-s", "-p", "dovetail.jax", str(script)),
    }[how]()
    assert done.returncode == 0, done.stderr
    assert "answered" in done.stdout


def test_what_is_missing_is_told_with_its_reason(python) -> None:
    done = python("-c", f"import dovetail.jax\n{ABSENT}")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    fused, pmap, again, nothing, psend, module, config = lines
    assert fused.startswith("ModuleNotFoundError No module named 'jax.experimental.fused'. ")
    assert REASON.format("experimental.fused") + ": it is on trial in JAX" in fused
    assert pmap.startswith("ImportError module 'jax' has no attribute 'xla_computation'. ")
    assert again == pmap.replace("ImportError", "AttributeError")
    assert pmap.endswith("no public name jax.xla_computation: use jax.jit(f).lower(...).")
    assert nothing.startswith("ImportError module 'dovetail.numpy' has no attribute 'nothing'. ")
    assert nothing.endswith("JAX 0.10.2 has no public name jax.numpy.nothing.")
    assert psend.startswith("AttributeError module 'dovetail.lax' has no attribute 'psend'. ")
    assert REASON.format("lax.psend") in psend
    assert module.startswith("ModuleNotFoundError No module named 'jax.nothing'. ")
    assert module.endswith("JAX 0.10.2 has no public name jax.nothing.")
    assert config.endswith("jax.config is no module: say `from jax import config`.")


def test_a_package_that_is_there_stays_unimported(python, genuine_jax) -> None:
    code = "import dovetail.jax, jax; assert not hasattr(jax, 'genuine'); print(jax.__version__)"
    done = python("-c", code, paths=(genuine_jax,))
    assert done.stdout == "0.10.2+dovetail\n", done.stderr
    # The hook is asked before what refuses the package, in whichever order they were installed.
    late = "import dovetail.numpy as dnp; dnp.ones(3); import jax; print(jax.__version__)"
    done = python("-c", late, paths=(genuine_jax,), DOVETAIL_AS_JAX="1")
    assert done.stdout == "0.10.2+dovetail\n", done.stderr


def test_after_the_package_the_hook_refuses(python, genuine_jax) -> None:
    code = "import jax\nfrom dovetail_jax_names.hook import install\ninstall()"
    done = python("-c", code, paths=(genuine_jax,))
    last = done.stderr.splitlines()[-1]
    assert last.startswith("dovetail_jax_names.hook.JaxPresent: dovetail cannot answer for `jax`: ")
    assert last.endswith("or start the program with `dovetail run`.")
    done = python("-c", "import jax\nimport dovetail.jax", paths=(genuine_jax,))
    assert "import dovetail.jax first" in done.stderr.splitlines()[-1]


def test_nothing_is_imported_before_it_is_asked_for(python) -> None:
    code = "import sys; print(sorted(n for n in sys.modules if n.startswith(('dovetail', 'jax'))))"
    assert python("-c", code).stdout == "[]\n"
    usage = python("-c", code, DOVETAIL_AS_JAX="1").stdout
    own = ["dovetail_jax_names", "dovetail_jax_names.hook", "dovetail_jax_names.versions"]
    assert usage == f"{own}\n"
    not_asked = f"{code}; print(*sys.meta_path)"
    assert "dovetail" not in python("-c", not_asked, DOVETAIL_AS_JAX="0").stdout.split("\n", 1)[1]


def test_devices_are_counted_before_the_runtime_starts(python) -> None:
    code = """
import dovetail.jax, jax
assert jax.config.jax_num_cpu_devices is not None
jax.config.update("jax_num_cpu_devices", 3)
print(len(jax.devices()), jax.numpy.ones(2).sum())
"""
    assert python("-c", code).stdout == "3 2.0\n"
    count = "import dovetail.jax, jax; print(jax.device_count())"
    assert python("-c", count, JAX_NUM_CPU_DEVICES="2").stdout == "2\n"


def test_arrays_of_cpp_are_right_where_jax_was_imported_first(python) -> None:
    """The runtime looks for modules of jax when it is first used, and gets its own stand-ins."""
    code = """
import dovetail.jax, sys
import jax.numpy as jnp
before = sys.modules["jax"]
x = jnp.arange(3.0)
print(x.aval, sys.modules["jax"] is before, jnp.from_dlpack(x))
"""
    assert python("-c", code).stdout == "float32[3] True [0. 1. 2.]\n"


def test_options_without_effect_have_values_of_their_types(python) -> None:
    code = """
import dovetail.jax, jax
c = jax.config
print(c.jax_pprint_use_color, c.jax_serialization_version, c.jax_memory_fitting_effort)
"""
    given = {"JAX_PPRINT_USE_COLOR": "0", "JAX_SERIALIZATION_VERSION": "3"}
    done = python("-c", code, JAX_MEMORY_FITTING_EFFORT="0.5", **given)
    assert done.stdout == "False 3 0.5\n", done.stderr


def test_options_of_jax(python) -> None:
    code = """
import dovetail.jax, sys, jax
assert jax.config.jax_enable_x64 and jax.config.read("jax_enable_x64") and jax.config.x64_enabled
jax.config.update("jax_platform_name", "cpu")
assert jax.config.jax_platforms == "cpu"
jax.config.update("jax_use_shardy_partitioner", False)
sys.argv += ["--jax_enable_x64=0", "--steps=3"]
jax.config.parse_flags_with_absl()
assert not jax.config.jax_enable_x64 and sys.argv[1:] == ["--steps=3"]
try:
    jax.config.update("jax_check_static_indices", True)
except ValueError as e:
    print(e)
"""
    done = python("-c", code, JAX_ENABLE_X64="1")
    assert done.stdout.startswith(
        "option 'check_static_indices': Dovetail has no other than False, got True at "
    ), done.stderr


def test_exceptions_of_callbacks_are_the_runtimes(python) -> None:
    code = """
import dovetail.jax, jax
def fails(x):
    raise KeyError("why")
f = jax.jit(lambda x: jax.pure_callback(fails, x, x))
for call in (f, f, lambda x: jax.pure_callback(fails, x, x)):
    try:
        call(jax.numpy.float32(1)).block_until_ready()
    except jax.errors.JaxRuntimeError as e:
        print("KeyError: 'why'" in str(e), repr(e.__cause__))
"""
    assert python("-c", code).stdout.splitlines() == ["True KeyError('why')"] * 3
