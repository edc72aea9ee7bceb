"""Calls by backends that take whole programs: passes, types, what is compiled once or refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_backends import cpu, reference
from dovetail_backends.reference import evaluate
from dovetail_batching import vmap
from dovetail_core import ClosedJaxpr
from dovetail_experimental.jet import jet
from dovetail_jit import jit
from dovetail_refs import freeze, new_ref
from dovetail_xla.shardings import single_device_sharding

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)


def f(x: Any) -> Any:
    return dnp.sin(x) * 2


@pytest.mark.parametrize(
    ("transformed", "remedy"),
    [
        (
            lambda g: grad(lambda x: g(x).sum())(X),
            r"Transform first: jit\(grad\(f\), backend='refe",
        ),
        (lambda g: vmap(g)(X), r"Transform first: jit\(vmap\(f\), backend='reference'\)\.$"),
        (lambda g: vmap(grad(g))(X), r"Transform first: jit\(grad\(f\), backend='reference'\)\.$"),
        (lambda g: jit(lambda x: g(x))(X), r"Call it outside of what is traced, or jit that as a"),
        (
            lambda g: jet(g, (X,), ((X,),)),
            r"Transform f first, and jit the result: jit\(\.\.\., ba",
        ),
    ],
)
def test_it_is_refused_under_a_transformation(transformed: Callable[..., Any], remedy: str) -> None:
    said = r"^f, jitted for backend 'reference', is called under .* at .*test_elsewhere"
    with pytest.raises(TypeError, match=said + ".*" + remedy):
        transformed(jit(f, backend="reference"))
    result = jit(grad(lambda x: f(x).sum()), backend="reference")(X)
    np.testing.assert_allclose(result, 2 * np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(jit(vmap(f), backend="reference")(X), 2 * np.sin(X), rtol=1e-6)


def test_there_is_nothing_to_lower_to() -> None:
    g = jit(f, backend="reference")
    said = (
        r"^f, jitted for backend 'reference', cannot be lowered at .*\.lower\(lowering_platforms="
    )
    with pytest.raises(ValueError, match=said):
        g.lower(X)
    assert "stablehlo.sine" in g.trace(X).lower(lowering_platforms=("cpu",)).as_text()
    assert "sin" in str(g.trace(X).jaxpr)


def test_a_backend_may_compile_and_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[ClosedJaxpr] = []
    given: list[Any] = []

    def compile_program(self: Any, program: ClosedJaxpr) -> Any:
        compiled.append(program)

        def run(args: Any) -> Any:
            given.append(args)
            return self.run(program, args)

        return run

    monkeypatch.setattr(reference.ReferenceBackend, "compile", compile_program, raising=False)
    asked: list[Any] = []
    monkeypatch.setattr(reference.ReferenceBackend, "problem", lambda self: asked.append(1) or "")
    g = jit(lambda x, n: f(x) * n, backend="reference")
    for n in (2, 3):
        np.testing.assert_allclose(g(X, n), np.sin(X) * 2 * n, rtol=1e-6)
    assert len(compiled) == 1 and len(asked) <= 1
    assert [x.dtype for x in given[0]] == [np.float32, np.int32], "of the types of the program"


def test_references_are_discharged_before(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def run(self: Any, program: ClosedJaxpr, args: Any) -> list[Any]:
        seen.append(str(program))
        return evaluate(program, *args)

    monkeypatch.setattr(reference.ReferenceBackend, "run", run)

    def g(x: Any) -> Any:
        ref = new_ref(x)
        ref[...] = ref[...] * 2
        return freeze(ref)

    np.testing.assert_allclose(jit(g, backend="reference")(X), 2 * X)
    assert len(seen) == 1 and "ref." not in seen[0]


def test_it_cannot_be_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    from dovetail_backends.selection import platforms

    with (
        platforms("reference"),
        pytest.raises(RuntimeError, match="no default among these: a back"),
    ):
        jit(f)(X)
    with platforms("reference,cpu"):
        np.testing.assert_allclose(jit(f)(X), 2 * np.sin(X), rtol=1e-6)
    monkeypatch.setattr(reference.ReferenceBackend, "priority", 50)
    with (
        platforms(None),
        pytest.warns(RuntimeWarning, match="backend 'reference' has priority 50, and cannot be"),
    ):
        from dovetail_backends.selection import _ranked

        assert "reference" not in [b.platform for b in _ranked(None)]


def test_options_of_the_compiler_are_refused_by_name() -> None:
    g = jit(f, backend="reference", compiler_options={"xla_b": 1, "xla_a": True})
    said = (
        r"^jit of f at .*test_elsewhere.*: compiler_options \('xla_a', 'xla_b'\) given with backe"
        r"nd 'reference', which runs whole programs: .* Leave compiler_options out, or the backend"
    )
    for _ in range(2):
        with pytest.raises(ValueError, match=said):
            g(X)


@pytest.mark.parametrize("which", ["in_shardings", "out_shardings"])
def test_shardings_are_refused(which: str) -> None:
    given: Any = {which: single_device_sharding(cpu.BACKEND.devices()[0])}
    with pytest.raises(ValueError, match="in_shardings or out_shardings given with backend 'refe"):
        jit(f, backend="reference", **given)(X)


def test_donated_arguments_stay_and_that_is_said() -> None:
    x = dnp.asarray(X)
    g = jit(lambda v, w: v * w, backend="reference", donate_argnums=0)
    said = r"^Some donated buffers were not usable\. <lambda>: backend 'reference' runs whole prog"
    with pytest.warns(UserWarning, match=said) as heard:
        np.testing.assert_allclose(g(x, x), X * X)
    assert not x.is_deleted() and heard[0].filename == __file__
