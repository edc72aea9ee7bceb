"""A later process finds programs by their code, and never one of other code, values or files."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HELPER = """
RATE = {n}.0

def scaled(x):
    return x * RATE

def deep(x):
    return inner(x)

def inner(x):
    return x + {n}.0
"""
PACKAGE = """
def bought(x):
    return x * {n}.0
"""
PROGRAM = """
import functools, json, sys
import numpy as np
import dovetail
import dovetail.numpy as jnp
from dovetail_core import hookimpl
from dovetail_hooks import manager
from dovetail_services.source_cache import libraries
import helper

folders = libraries.library_folders()
libraries.library_folders = lambda: (*folders, sys.argv[1])
import bought_package

N = {n}
TABLE = np.arange(3.0, dtype=np.float32) + N
SETTINGS = dict(rate=N)
DATA = sys.argv[2]


class Hear:
    traced, refused = [], {{}}

    @hookimpl
    def dovetail_traced(self, name):
        self.traced.append(name)

    @hookimpl
    def dovetail_not_cached(self, name, reason):
        self.refused[name] = reason


manager().register(Hear())


class Model:
    rate = N + 0.5

    def __init__(self, width):
        self.width = width

    def apply(self, x):
        return x * self.rate + self.width

    @staticmethod
    def twice(x):
        return x * {n}.25


class Part(Model):
    pass


def of_closure(n):
    def closure(x):
        return x + n
    return closure


def default(x, n=N):
    return x - n


def keyword(x, *, n=N):
    return x * x - n


def a_global(x):
    return x * N


def an_array(x):
    return x + TABLE[2]


def a_mapping(x):
    return x + SETTINGS["rate"] + 2


def of_helper(x):
    return helper.scaled(x)


def deep_helper(x):
    return helper.deep(x) * 3


def constant(x):
    return x + {n}.75


def class_attribute(x):
    return Model.twice(x) * Model.rate


def own_method(x):
    return Part(1).apply(x)


def installed_package(x):
    return bought_package.bought(x)


def comprehension(x):
    return sum([x * i * N for i in range(3)])


def inner_import(x):
    from helper import inner
    return inner(x) * 7


def nested(x):
    return jitted(x) + 1


@dovetail.jit
def jitted(x):
    return x * N * 5


def reads_declared(x):
    return x + float(open(DATA).read())


def reads(x):
    return x + float(open(DATA).read()) * 2


def loads(x):
    return x + reading(x)


def reading(x):
    return jnp.asarray(np.float32(np.loadtxt(DATA)))


def static(x, n):
    return x ** n


def grown(x):
    return functools.reduce(lambda a, b: a * b, [x] * (N + 1))


FUNCTIONS = [
    default, keyword, a_global, an_array, a_mapping, of_helper, deep_helper, constant,
    class_attribute, own_method, installed_package, comprehension, inner_import, nested, reads,
    loads, grown,
]
calls = {{f.__name__: dovetail.jit(f, cache="source") for f in FUNCTIONS}}
calls["closure"] = dovetail.jit(of_closure(N), cache="source")
calls["partial"] = dovetail.jit(functools.partial(default, n=N + 3), cache="source")
calls["method"] = dovetail.jit(Model(N).apply, cache="source")
calls["transformed"] = dovetail.jit(dovetail.grad(lambda x: a_global(x) ** 2), cache="source")
calls["mapped"] = dovetail.jit(lambda x: dovetail.vmap(a_global)(x[None])[0] + 9, cache="source")
calls["reads_declared"] = dovetail.jit(reads_declared, cache="source", reads=[DATA])
calls["static"] = lambda x: dovetail.jit(static, static_argnums=1, cache="source")(x, N)
jitted(np.float32(1))  # traced before, and remembered

found = {{}}
for name, call in calls.items():
    Hear.traced.clear()
    value = float(call(np.float32(2.0)))
    again = float(call(np.float32(2.0)))
    assert value == again, (name, value, again)
    found[name] = value, bool(Hear.traced)
print(json.dumps([found, Hear.refused]))
"""
EXPECTED = {
    "default": lambda n: 2 - n,
    "keyword": lambda n: 4 - n,
    "a_global": lambda n: 2 * n,
    "an_array": lambda n: 2 + 2 + n,
    "a_mapping": lambda n: 4 + n,
    "of_helper": lambda n: 2 * n,
    "deep_helper": lambda n: (2 + n) * 3,
    "constant": lambda n: 2 + n + 0.75,
    "class_attribute": lambda n: 2 * (n + 0.25) * (n + 0.5),
    "own_method": lambda n: 2 * (n + 0.5) + 1,
    "installed_package": lambda n: 2 * n,
    "comprehension": lambda n: 6 * n,
    "inner_import": lambda n: (2 + n) * 7,
    "nested": lambda n: 10 * n + 1,
    "reads": lambda n: 2 + 2 * n,
    "loads": lambda n: 2 + n,
    "grown": lambda n: 2 ** (n + 1),
    "closure": lambda n: 2 + n,
    "partial": lambda n: 2 - n - 3,
    "method": lambda n: 2 * (n + 0.5) + n,
    "transformed": lambda n: 4 * n * n,
    "mapped": lambda n: 2 * n + 9,
    "reads_declared": lambda n: 2 + n,
    "static": lambda n: 2**n,
}
REFUSED = {"reads": "io.open reads a file", "loads": "loadtxt reads a file"}


class Programs:
    """The program at some number ``n``, on which all of its functions depend."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cache = folder / "cache"

    def run(self, n: int, version: int | None = None) -> tuple[dict[str, Any], dict[str, str]]:
        site = self.folder / "site"
        (site / f"bought_package-{version or n}.dist-info").mkdir(parents=True, exist_ok=True)
        path = site / "bought_package.py"
        for old in site.glob("*.dist-info"):
            if old.name != f"bought_package-{version or n}.dist-info":
                old.rmdir()
        if not path.exists() or path.read_text() != PACKAGE.format(n=n):
            path.write_text(PACKAGE.format(n=n))
        (self.folder / "helper.py").write_text(HELPER.format(n=n))
        (self.folder / "data.txt").write_text(f"{n}")
        program = self.folder / "program.py"
        program.write_text(PROGRAM.format(n=n))
        env = {
            **os.environ, "PYTHONPATH": f"{site}", "PYTHONDONTWRITEBYTECODE": "1",
            "DOVETAIL_COMPILATION_CACHE_DIR": str(self.cache),
        }  # fmt: skip
        arguments = [f"{site}{os.sep}", str(self.folder / "data.txt")]
        done = subprocess.run(
            [sys.executable, str(program), *arguments], env=env, check=True, timeout=300,
            capture_output=True, text=True,
        )  # fmt: skip
        return json.loads(done.stdout)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("programs"))


def check(result: dict[str, Any], n: int) -> None:
    values = {name: value for name, (value, _) in result.items()}
    assert values == {name: f(n) for name, f in EXPECTED.items()}


def test_no_result_of_other_code_values_or_files(programs: Programs) -> None:
    first, refused = programs.run(2)
    check(first, 2)
    assert all(traced for _, traced in first.values())
    assert set(refused) == set(REFUSED)
    for name, text in REFUSED.items():
        assert text in refused[name]

    again, refused = programs.run(2)
    check(again, 2)
    assert {name for name, (_, traced) in again.items() if traced} == set(REFUSED)

    other, _ = programs.run(3, version=2)  # each function depends on one thing that is another now
    check(other, 3)
    assert all(traced for _, traced in other.values())

    back, _ = programs.run(2)
    check(back, 2)
    traced = {name for name, (_, traced) in back.items() if traced}
    assert traced == {*REFUSED, "installed_package"}  # whose file was written anew


def test_another_version_of_a_package(programs: Programs) -> None:
    programs.run(2)
    result, _ = programs.run(2, version=5)
    check(result, 2)
    assert all(traced for _, traced in result.values())


PLUGIN = """
from dovetail_core import ClosedJaxpr, Manifest, Pass

MANIFEST = Manifest("acme", passes={{"acme": "acme_plugin:PASS"}}, requires=("lax",))


def subtracting(program):
    from dovetail_lax import add_p, sub_p, mul_p

    swapped = {{add_p: {other}}}
    eqns = [e.replace(primitive=swapped.get(e.primitive, e.primitive)) for e in program.eqns]
    return ClosedJaxpr(program.jaxpr.replace(eqns=eqns), program.consts)


PASS = Pass("acme", "ir", subtracting, platforms=({platform!r},))
"""
WITH_PLUGIN = """
import json
import numpy as np
import dovetail
from dovetail_core import hookimpl
from dovetail_hooks import manager


class Hear:
    traced = []

    @hookimpl
    def dovetail_traced(self, name):
        self.traced.append(name)


manager().register(Hear())


def f(x):
    return x + 3.0


value = float(dovetail.jit(f, cache="source")(np.float32(2)))
print(json.dumps([value, "f" in Hear.traced]))
"""


class Plugged:
    """A program in an environment with a plugin."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.site = folder, folder / "site"
        self.site.mkdir()
        (folder / "program.py").write_text(WITH_PLUGIN)

    def plugin(self, other: str = "sub_p", platform: str = "cpu", version: str = "1.0") -> None:
        for old in self.site.glob("*.dist-info"):
            shutil.rmtree(old)
        info = self.site / f"acme_dist-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: acme-dist\nVersion: {version}\n"
        )
        (info / "entry_points.txt").write_text("[dovetail.plugins]\nacme = acme_plugin:MANIFEST\n")
        source = PLUGIN.format(other=other, platform=platform)
        (self.site / "acme_plugin.py").write_text(source)

    def run(self, **variables: str) -> list[Any]:
        env = {
            **os.environ, "PYTHONPATH": f"{self.site}", "PYTHONDONTWRITEBYTECODE": "1",
            "DOVETAIL_COMPILATION_CACHE_DIR": str(self.folder / "cache"), **variables,
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, str(self.folder / "program.py")], env=env, timeout=300,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


def test_programs_of_plugins_that_are_disabled_or_changed_are_not_found(tmp_path: Path) -> None:
    programs = Plugged(tmp_path)
    assert programs.run() == [5.0, True]
    programs.plugin()
    assert programs.run() == [-1.0, True]
    assert programs.run() == [-1.0, False]
    disabled = {"DOVETAIL_DISABLE_PLUGINS": "acme"}
    assert programs.run(**disabled) == [5.0, True]
    assert programs.run(**disabled) == [5.0, False]
    assert programs.run() == [-1.0, False]
    programs.plugin(version="1.1")
    assert programs.run() == [-1.0, True], "another version may do something else"
    programs.plugin(other="mul_p", version="1.1")
    assert programs.run() == [6.0, True]
    programs.plugin(platform="tpu", version="1.1")
    assert programs.run() == [5.0, True]
