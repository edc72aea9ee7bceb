"""Providers of executables: each can be left out, and anybody can add one."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_backends import device_put
from dovetail_core import Manifest, config
from dovetail_jit import (
    ExecutableProvider,
    Request,
    Runnable,
    clear_caches,
    executables_of,
    jit,
)
from dovetail_jit.options import interpret_first_calls
from dovetail_jit.plugin import MANIFEST
from dovetail_refs import new_ref
from dovetail_services import cache_dir
from dovetail_services.plugin import MANIFEST as SERVICES
from dovetail_testing.fresh import with_plugins

X = np.linspace(0.1, 1.0, 6, dtype=np.float32).reshape(2, 3)
PREFIX = "jit.executables."
BOTH = MANIFEST, SERVICES
NAMES = [n.removeprefix(PREFIX) for m in BOTH for n in m.members if n.startswith(PREFIX)]


def calls() -> None:
    """A suite of calls of every kind, with what they must return."""
    x = dnp.asarray(X)
    for _ in range(6):
        np.testing.assert_array_equal(np.asarray(-x), -X)
    np.testing.assert_allclose(jit(lambda x: dnp.sin(x) * 2)(x), np.sin(X) * 2, rtol=1e-6)
    np.testing.assert_allclose(dnp.var(x), X.var(), rtol=1e-6)
    np.testing.assert_allclose(jit(dnp.cos).lower(x).compile()(x), np.cos(X), rtol=1e-6)
    given = dnp.asarray(X) + 0
    np.testing.assert_array_equal(jit(lambda x: x + 1, donate_argnums=0)(given), X + 1)
    assert given.is_deleted()
    r = new_ref(X)
    jit(lambda r: r.__setitem__(..., r[...] * 3))(r)
    np.testing.assert_allclose(r[...], X * 3, rtol=1e-6)
    options = {"xla_embed_ir_in_executable": True}
    np.testing.assert_array_equal(jit(lambda x: x * x, compiler_options=options)(x), X * X)
    placed = device_put(X, x.device)
    np.testing.assert_array_equal(jit(lambda x: x - 1)(placed), X - 1)


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    clear_caches()
    yield
    clear_caches()


@pytest.mark.parametrize("left_out", NAMES)
def test_each_can_be_left_out(left_out: str, tmp_path: Path) -> None:
    own, services = ({k: v for k, v in m.members.items() if k != PREFIX + left_out} for m in BOTH)
    mode = "off" if left_out == "disk_cache" else "always"  # whose process writes to the cache
    with (
        with_plugins(replace(MANIFEST, members=own), replace(SERVICES, members=services)),
        interpret_first_calls(2),
        cache_dir(str(tmp_path / "cache")),
        config.option("tiered")(mode),
    ):
        calls()
        clear_caches()
        calls()
    written = [*tmp_path.glob("cache/*.bin")]
    assert bool(written) == (left_out != "disk_cache")


def test_all_can_be_left_out() -> None:
    with with_plugins(replace(MANIFEST, members={}), replace(SERVICES, members={})):
        calls()


@pytest.fixture
def plugin(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """A registry with a plugin that has these providers."""

    def made(**providers: Any) -> Any:
        module: Any = types.ModuleType("acme_providers")
        vars(module).update(providers)
        monkeypatch.setitem(sys.modules, "acme_providers", module)
        members = {f"{PREFIX}{name}": f"acme_providers:{name}" for name in providers}
        return with_plugins(Manifest("acme", members=members))

    return made


def test_they_are_asked_in_the_order_that_they_declare(plugin: Callable[..., Any]) -> None:
    asked: list[str] = []

    def asking(name: str) -> Callable[..., Runnable | None]:
        def get(request: Request, make: Callable[[], Runnable]) -> Runnable | None:
            asked.append(f"{name} {request.name}")
            return make() if name == "first" else None

        return get

    providers = {
        "last": ExecutableProvider("last", asking("last"), after=("equal_modules", "absent")),
        "second": ExecutableProvider("second", asking("second"), after=("first",)),
        "first": ExecutableProvider("first", asking("first"), before=("numpy_fallback",)),
        "never": ExecutableProvider("never", "no_such_module:get", lambda request: False),
    }
    with plugin(**providers):
        f = jit(lambda x: x * 2)
        np.testing.assert_array_equal(f(X), X * 2)
        np.testing.assert_array_equal(f(X), X * 2)
        assert f.trace(X).lower().compile()._executable in executables_of(f.trace(X)._program.call)
    assert asked == ["first <lambda>", "second <lambda>", "last <lambda>"]


def test_what_cannot_be_used_is_set_aside(plugin: Callable[..., Any]) -> None:
    nothing: Any = lambda request, make: None  # noqa: E731
    cases = {
        "it is a int, not a dovetail_jit.ExecutableProvider": {"odd": 3},
        "its name is 'other', not the 'odd' of the entry": {
            "odd": ExecutableProvider("other", nothing)
        },
        "before and after must be tuples": {
            "odd": ExecutableProvider("odd", nothing, before="disk_cache")  # type: ignore[arg-type]
        },
        "'odd' of executables is set aside: its before and after contradict": {
            "odd": ExecutableProvider(
                "odd", nothing, before=("disk_cache",), after=("equal_modules",)
            )
        },
    }
    for problem, providers in cases.items():
        with plugin(**providers), pytest.warns(RuntimeWarning, match=problem):
            np.testing.assert_array_equal(jit(lambda x: x * 2)(X), X * 2)


class Declining(Runnable):
    """Runs nothing that has a negative element; asks for the compiled one after three calls."""

    def __init__(self, request: Request, make: Callable[[], Runnable]) -> None:
        self.make, self.runs, self.asked = make, 0, 0

    def exchange(self, request: Request) -> Runnable:
        self.asked += 1
        return self.make() if self.asked > 2 or not request.may_be_provisional else self

    def run(self, leaves: Any, committed: bool) -> list[Any] | None:
        (x,) = leaves
        if np.any(np.asarray(x) < 0):
            return None
        self.runs += 1
        return [dnp.asarray(np.asarray(x) * 100)]


def test_what_is_provisional_runs_until_it_is_exchanged(plugin: Callable[..., Any]) -> None:
    """Also where it declines operands: the compiled one takes its place then."""
    provider = ExecutableProvider(
        "declining",
        Declining,
        lambda r: r.may_be_provisional and not r.is_operation,
        before=("disk_cache",),
    )
    with plugin(declining=provider):
        f = jit(lambda x: x * 2)
        result = [float(f(X)[0, 0]) for _ in range(5)]
        np.testing.assert_allclose(result, [10.0, 10.0, 10.0, 0.2, 0.2], rtol=1e-6)
        g = jit(lambda x: x * 3)
        assert float(g(X)[0, 0]) == pytest.approx(10.0)
        np.testing.assert_allclose(g(-X), -3 * X, rtol=1e-6)
        np.testing.assert_allclose(g(X), 3 * X, rtol=1e-6)
        h = jit(lambda x: x * 4)
        assert float(h(X)[0, 0]) == pytest.approx(10.0)
        np.testing.assert_allclose(h.lower(X).compile()(X), 4 * X, rtol=1e-6)
        np.testing.assert_allclose(h(X), 4 * X, rtol=1e-6)


UNUSED = """
import sys
import numpy as np
import dovetail as dv

x = np.ones(3, np.float32)
print(dv.jit(lambda x: dv.numpy.sin(x) * 2)(x).shape)
names = ("services.tiers.provider", "services.tiers.process",
         "services.disk_cache.provider", "services.disk_cache.store",
         "jit.providers.numpy_fallback", "jit.providers.per_shard_calls",
         "jit.providers.background_compile", "jit.call.source_lookup", "jit.call.non_pjrt")
print([n for n in names if f"dovetail_{n}" in sys.modules])
"""


def test_what_is_not_enabled_is_not_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNUSED], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "(3,)\n[]\n", done.stderr
