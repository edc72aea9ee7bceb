"""Backends that say what they lack: element types by an attribute, anything else by an error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_backends import PjrtBackend
from dovetail_backends.reference import REFERENCE, ReferenceBackend
from dovetail_core import Manifest, Unsupported
from dovetail_jit import jit
from dovetail_jit.laws import backend_law
from dovetail_testing import Case, Sample, Skip
from dovetail_testing.fresh import with_plugins
from dovetail_xla.client import make_cpu_client

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)


class Mine(ReferenceBackend):
    platform = "mine"
    lacks = frozenset({"complex64", np.dtype("float16")})

    def run(self, program: Any, args: Any) -> list[Any]:
        if any(e.primitive.name == "cos" for e in program.eqns):
            raise Unsupported("backend 'mine' has no cosine")
        return REFERENCE.run(program, args)


@pytest.fixture
def mine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    module: Any = ModuleType("mine_backend")
    module.MINE = Mine()
    monkeypatch.setitem(sys.modules, "mine_backend", module)
    with with_plugins(Manifest("mine", backends={"mine": "mine_backend:MINE"})):
        yield


@pytest.mark.usefixtures("mine")
@pytest.mark.parametrize(
    ("f", "x", "said"),
    [
        (lambda x: x, X.astype(np.complex64), r"of type c64\[4\]"),
        (
            lambda x: lax.real(lax.complex(x, x)),
            X,
            r"of type c64\[4\], of 'complex' at .*test_unsupp",
        ),
        (
            lambda x: lax.convert_element_type(x, np.float16),
            X,
            r"f16.*, of 'convert_element_type' at",
        ),
        (
            lambda x: lax.while_loop(
                lambda v: v[0] < 3.0,
                lambda v: lax.add(v, lax.imag(lax.complex(v, v))),
                x,
            ),
            X,
            r"type c64\[4\], of 'complex' at .*",
        ),
    ],
)
def test_element_types_that_it_lacks_are_refused(f: Any, x: Any, said: str) -> None:
    for _ in range(2):
        with pytest.raises(Unsupported, match=r"^backend 'mine' has no arrays of .*" + said) as e:
            jit(f, backend="mine")(x)
        assert str(e.value).endswith("Use another element type, or another backend.")


@pytest.mark.usefixtures("mine")
def test_all_else_runs() -> None:
    np.testing.assert_allclose(jit(lambda x: lax.sin(x) * 2, backend="mine")(X), 2 * np.sin(X))
    with pytest.raises(Unsupported, match="has no cosine"):
        jit(lax.cos, backend="mine")(X)


def test_a_backend_that_compiles_says_it_as_well() -> None:
    backend = PjrtBackend("cpu", lambda: make_cpu_client(1), priority=0, available=lambda: "")
    backend.lacks = frozenset({"complex64"})  # type: ignore[attr-defined]
    device = backend.local_devices()[0]
    f = jit(lambda x: lax.real(lax.complex(x, x)), device=device)
    with pytest.raises(
        Unsupported, match=r"^backend 'cpu' has no arrays of complex64, and <lambda>"
    ):
        f(X)
    np.testing.assert_allclose(jit(lax.sin, device=device)(X), np.sin(X), rtol=1e-6)


@pytest.mark.usefixtures("mine")
def test_the_law_of_backends_counts_such_samples_as_unsupported() -> None:
    law = backend_law("mine")
    for args, p, why in (
        ((X.astype(np.complex64),), lax.neg_p, "has no arrays of complex64"),
        ((X,), lax.cos_p, "has no cosine"),
    ):
        with pytest.raises(Skip, match=rf"^unsupported: backend 'mine' {why}"):
            Case("backend mine", law, Sample(p, args)).run()
    Case("backend mine", law, Sample(lax.neg_p, (X,))).run()
