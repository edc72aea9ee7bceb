"""The facade is what manifests say, type checkers are told the same, and importing it is cheap."""

from __future__ import annotations

import ast
import os
import pickle
import pkgutil
import pydoc
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import dovetail
from dovetail_base.lazy import listing
from dovetail_core import registry
from dovetail_surface import KERNEL

MODULES = ["dovetail", *(m.name for m in pkgutil.walk_packages(dovetail.__path__, "dovetail."))]
MODULES.remove("dovetail.version")  # it has values of its own
MODULES.remove("dovetail.__main__")  # it is a program
STANDARD = {n: p.manifest for n, p in registry().plugins.items() if p.distribution == "dovetail"}
RUN_TIME = """\
from dovetail_surface import surface as _surface
__getattr__, __dir__ = _surface(__name__)"""
VERSION = (
    "from .version import __version__ as __version__"  # so is the module itself one of its names
)


def run(code: str, **environment: str) -> str:
    """What a fresh process prints."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def source(module: ModuleType) -> list[ast.stmt]:
    return ast.parse(Path(str(module.__file__)).read_text()).body


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_is_for_and_what_type_checkers_are_to_know(name: str) -> None:
    module = import_module(name)
    doc, typing, names, *more = source(module)
    assert isinstance(doc, ast.Expr) and module.__doc__
    assert ast.unparse(typing) == "from typing import TYPE_CHECKING"
    assert isinstance(names, ast.If) and ast.unparse(names.test) == "TYPE_CHECKING"
    assert all(isinstance(node, ast.ImportFrom) for node in names.body)
    assert "\n".join(map(ast.unparse, names.orelse)) == RUN_TIME
    if name == "dovetail.jax":  # to import it is to ask for something
        assert ast.unparse(more[-1]).endswith("install()")
    else:
        assert "\n".join(map(ast.unparse, more)) in ("", VERSION)


@pytest.mark.parametrize("name", MODULES)
def test_type_checkers_are_told_what_there_is_at_run_time(name: str) -> None:
    module = import_module(name)
    told = {"__name__": name, "__package__": module.__package__}
    names = next(node for node in source(module) if isinstance(node, ast.If))
    exec(compile(ast.Module(names.body, []), str(module.__file__), "exec"), told)
    own = [n for n in told if not n.startswith("__") or n.startswith("__array_")]
    public = {n: told[n] for n in own}
    theirs = [m for n, m in registry().active.items() if n not in STANDARD]
    added = {n.rpartition(".")[::2] for m in theirs for n in (*m.names, *m.surfaces)}
    path = name.partition(".")[2]
    assert sorted(public) == [n for n in module.__all__ if (path, n) not in added]
    assert all(getattr(module, n) is value for n, value in public.items())


def test_every_surface_of_a_standard_plugin_is_a_module_of_the_facade() -> None:
    claimed = [s for m in (KERNEL, *STANDARD.values()) for s in m.surfaces]
    assert sorted(f"dovetail.{s}" for s in claimed) == sorted(MODULES[1:])


@pytest.mark.parametrize("name", STANDARD)
def test_every_name_that_a_package_lists_loads_and_none_is_hidden_by_a_module(name: str) -> None:
    package = import_module(f"dovetail_{name}")
    exports = listing(package.__spec__.loader.get_code(package.__name__), package.__name__)
    assert set(package.__all__) <= set(exports)
    modules = {m.name for m in pkgutil.iter_modules(package.__path__)}
    for public, export in exports.items():
        value = getattr(package, public)
        if export.module == package.__name__:
            assert value is sys.modules[f"{package.__name__}.{export.name}"]
        else:
            assert public not in modules, f"{public!r} is also a module of {package.__name__}"


def test_importing_it_loads_no_plugin_and_reads_no_entry_point() -> None:
    code = (
        "import sys, dovetail, dovetail.numpy.linalg, dovetail.lax\n"
        "from dovetail_core.registry import discovery\n"
        "own = [m for m in sys.modules if m.startswith('dovetail_')]\n"
        "print(sorted({m.partition('.')[0] for m in own}), discovery.registry.is_made)"
    )
    kernel = "base core mesh surface tree xla".split()
    assert run(code) == f"{[f'dovetail_{part}' for part in kernel]} False\n"


def test_first_use_loads_what_defines_the_name_and_then_it_is_an_attribute() -> None:
    code = (
        "import sys, dovetail\n"
        "assert 'vmap' not in vars(dovetail)\n"
        "assert dovetail.vmap is vars(dovetail)['vmap']\n"
        "loaded = {m.partition('.')[0] for m in sys.modules if m.count('.') == 1}\n"
        "for unused in ('dovetail_nn', 'dovetail_random', 'dovetail_numpy'):\n"
        "    own = [m for m in sys.modules if m.startswith(unused + '.')]\n"
        "    assert own == [unused + '.plugin'], own\n"
    )
    run(code)


@pytest.mark.parametrize(
    ("plugin", "name"), [("ad", "grad"), ("numpy", "numpy"), ("numpy", "numpy.linalg.norm")]
)
def test_a_name_of_a_disabled_plugin_names_it(plugin: str, name: str) -> None:
    module, _, last = f"dovetail.{name}".rpartition(".")
    code = f"import {module}\ntry: {module}.{last}\nexcept AttributeError as e: print(e)"
    assert run(code, DOVETAIL_DISABLE_PLUGINS=plugin) == (
        f"{module}.{last} comes from the plugin {plugin!r}, which is disabled "
        "(DOVETAIL_DISABLE_PLUGINS)\n"
    )


def test_a_name_of_a_plugin_that_lacks_another_says_so() -> None:
    code = "import dovetail\ntry: dovetail.grad\nexcept AttributeError as e: print(e)"
    result = run(code, DOVETAIL_DISABLE_PLUGINS="batching", PYTHONWARNINGS="ignore")
    assert result == (
        "dovetail.grad comes from the plugin 'ad', which is set aside: needs plugin 'batching', "
        "which is disabled (DOVETAIL_DISABLE_PLUGINS)\n"
    )


def test_star_imports_and_submodules() -> None:
    space: dict[str, object] = {}
    exec("from dovetail.numpy import *\nimport dovetail.lax.linalg as inner", space)
    assert space["sin"] is dovetail.numpy.sin and space["linalg"] is dovetail.numpy.linalg
    assert space["inner"] is dovetail.lax.linalg is sys.modules["dovetail.lax.linalg"]


def test_functions_are_pickled_by_their_names() -> None:
    for value in (dovetail.grad, dovetail.numpy.linalg.norm, dovetail.lax.scan):
        assert pickle.loads(pickle.dumps(value)) is value


def test_help_lists_the_names() -> None:
    text = pydoc.plain(pydoc.render_doc(dovetail.numpy.fft))
    assert "rfft(" in text and "Discrete Fourier transforms." in text
