"""What is installed: versions, plugins, the command line, and how it gets on with JAX."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import distribution, entry_points, version
from pathlib import Path

import pytest

import dovetail
import dovetail_core
from dovetail_core import registry
from dovetail_xla.version import JAXLIB_VERSION

KERNEL = [f"dovetail_{part}" for part in "base core mesh surface tree xla".split()]
STANDARD = {"ad", "backends", "batching", "jit", "lax", "nn", "numpy", "random", "remat"}


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command in a fresh process, away from the repository."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("DOVETAIL_")}
    return subprocess.run(
        command, cwd=cwd, env=inherited | environment, capture_output=True, text=True, timeout=120
    )


def python(code: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-W", "error", "-c", code, cwd=cwd, **environment)


def test_versions_and_plugins() -> None:
    assert version("dovetail") and version("dovetail-core")
    assert ".".join(map(str, JAXLIB_VERSION))[:4] == version("jaxlib")[:4]
    result = {ep.name for ep in entry_points(group="dovetail.plugins")}
    assert result >= STANDARD
    assert set(registry().active) >= STANDARD
    assert all(not p.problem for p in registry().plugins.values() if p.name in STANDARD)


def test_every_public_name_can_be_imported() -> None:
    names = [n for n in dir(dovetail) if not n.startswith("_")]
    assert {"jit", "grad", "vmap", "checkpoint", "Array", "numpy", "random", "lax"} <= {*names}
    for name in names:
        assert getattr(dovetail, name) is not None or name == "None"


def test_importing_loads_no_plugin_and_makes_no_noise(tmp_path: Path) -> None:
    code = (
        "import sys, dovetail\n"
        "loaded = {m.partition('.')[0] for m in sys.modules if m.startswith('dovetail_')}\n"
        "print(sorted(loaded), 'scipy' in sys.modules, 'jax' in sys.modules)\n"
    )
    result = python(code, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == f"{KERNEL} False False" and not result.stderr


def test_the_first_operation_loads_no_transformation(tmp_path: Path) -> None:
    code = (
        "import sys, dovetail.numpy as dnp\n"
        "dnp.add(dnp.arange(4.0), 1.0).block_until_ready()\n"
        "late = 'ad.forward', 'batching.trace', 'custom_rules.function', 'jit.api',\\\n"
        "    'lax.functions.control_flow', 'core.text.syntax'\n"
        "print([m for m in late if f'dovetail_{m}' in sys.modules])\n"
    )
    result = python(code, tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "[]"


def test_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import dovetail.numpy as dnp\n\n\ndef f(x):\n    return dnp.sin(x) * 2\n"
    )
    cli = (sys.executable, "-m", "dovetail_cli")
    doctor = run(*cli, "doctor", cwd=tmp_path)
    assert doctor.returncode == 0 and version("jaxlib") in doctor.stdout, doctor.stdout
    listed = run(*cli, "plugins", cwd=tmp_path).stdout
    assert all(f"\n{name} " in listed for name in STANDARD)
    assert "sin x ad.jvp: declared" in run(*cli, "explain", "sin", "ad.jvp", cwd=tmp_path).stdout
    shown = run(*cli, "ir", "script.py:f", "f32[4]", cwd=tmp_path)
    assert all(s in shown.stdout for s in ("sin a", "stablehlo.sine", "ENTRY")), shown.stderr
    wrong = run(*cli, "ir", "script.py:g", "f32[4]", cwd=tmp_path)
    assert wrong.returncode == 2 and "has no function 'g'" in wrong.stderr


def test_a_disabled_plugin_is_named(tmp_path: Path) -> None:
    name = "dovetail.experimental.sparse"
    code = f"import dovetail\ntry:\n    {name}\nexcept AttributeError as e:\n    print(e)\n"
    result = python(code, tmp_path, DOVETAIL_DISABLE_PLUGINS="sparse")
    expected = f"{name} comes from the plugin 'sparse', which is disabled (DOVETAIL_DISABLE"
    assert expected in result.stdout, result.stderr


@pytest.fixture
def with_jax(tmp_path: Path) -> Path:
    """A directory in which `import jax` finds something."""
    (tmp_path / "jax").mkdir()
    (tmp_path / "jax" / "__init__.py").write_text("print('imported')\n")
    return tmp_path


def test_jax_beside_dovetail_is_an_import_error_either_way(with_jax: Path) -> None:
    first = "import jax\ntry:\n    import dovetail\nexcept ImportError as e:\n    print(e)\n"
    result = python(first, with_jax)
    assert "dovetail cannot be imported: the package `jax` is already" in result.stdout, (
        result.stderr
    )
    second = "import dovetail\ntry:\n    import jax\nexcept ImportError as e:\n    print(e)\n"
    result = python(second, with_jax)
    assert "this process already uses dovetail" in result.stdout, result.stderr
    assert "imported" not in result.stdout.replace("cannot be imported", "")


def test_jax_that_is_only_installed_is_never_imported(with_jax: Path) -> None:
    code = (
        "import numpy as np, dovetail, dovetail.numpy as dnp\n"
        "x = dovetail.jit(dovetail.grad(lambda v: dnp.sin(v).sum()))(np.ones(3, np.float32))\n"
        "print(np.from_dlpack(x).shape, x.copy().devices() == x.devices())\n"
    )
    result = python(code, with_jax)
    assert result.stdout.strip() == "(3,) True", result.stderr


def test_the_kernel_alone_knows_no_plugin() -> None:
    names = {f for f in distribution("dovetail-core").files or () if f.suffix == ".py"}
    assert all("plugins/" not in str(f) for f in names)
    assert Path(dovetail_core.__file__).name == "__init__.py"
