"""Random programs with control flow, references and remat on meshes: as they are without.

Rows of a batch are divided among devices: by the compiler, by types, and under ``shard_map``, and
columns by the compiler. Gradients with respect to what all rows share are those of the whole batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import dovetail
from dovetail import P, lax, shard_map
from dovetail.sharding import AxisType, Mesh, NamedSharding
from dovetail_backends import PjrtBackend
from dovetail_xla.client import make_cpu_client

from .programs import REVERSIBLE, programs, run, run_numpy
from .test_compositions import QUICK, close, examples

ROWS = np.cos(np.arange(16.0) + 0.5).reshape(4, 4)
SHARED = 1 + 0.2 * np.sin(np.arange(4.0))
KINDS = (*(k for k in REVERSIBLE if k not in ("grad", "jvp")), "ref", "grad", "jvp")
WEIGHTS = np.linspace(0.5, 1.5, 16).reshape(4, 4)


@pytest.fixture(scope="module")
def devices() -> list[Any]:
    backend = PjrtBackend("cpu", lambda: make_cpu_client(4), priority=0, available=lambda: "")
    return backend.local_devices()


@pytest.fixture(autouse=True, scope="module")
def double_precision() -> Iterator[None]:
    with dovetail.enable_x64(True):
        yield


def _rows(p: Any, k: int) -> Any:
    """The program on each row, times what all rows share."""
    return lambda shared, rows: dovetail.vmap(lambda x: run(p, x * shared, np.int32(k)))(rows)


def _numpy(p: Any, k: int) -> Any:
    return np.stack([run_numpy(p, x * SHARED, k) for x in ROWS])


def _loss(f: Any) -> Any:
    return lambda shared, rows: (f(shared, rows) * WEIGHTS).sum()


def _jit(f: Any) -> Any:
    return dovetail.jit(f, compiler_options=QUICK)


@examples(6)
@given(
    programs(KINDS, 4),
    st.sampled_from([0, 1, 2]),
    st.sampled_from([("i", None), (None, "i"), ("i", "j"), (("i", "j"), None)]),
)
def test_divided_by_the_compiler(devices: Any, p: Any, k: int, spec: Any) -> None:
    mesh = Mesh(np.array(devices).reshape(2, 2), ("i", "j"))
    rows = dovetail.device_put(ROWS, NamedSharding(mesh, P(*spec)))
    f = _rows(p, k)
    close(_jit(f)(SHARED, rows), _numpy(p, k), 1e-6)
    wanted = _jit(dovetail.grad(_loss(f), argnums=(0, 1)))(SHARED, ROWS)
    for a, b in zip(_jit(dovetail.grad(_loss(f), argnums=(0, 1)))(SHARED, rows), wanted):
        close(a, b, 1e-8)


@examples(6)
@given(programs(KINDS, 4), st.sampled_from([0, 1, 2]))
def test_divided_by_types(devices: Any, p: Any, k: int) -> None:
    mesh = Mesh(np.array(devices), ("i",), AxisType.Explicit)
    rows = dovetail.device_put(ROWS, NamedSharding(mesh, P("i")))
    f = _rows(p, k)
    with dovetail.set_mesh(mesh):
        result = _jit(f)(SHARED, rows)
        of_shared, of_rows = _jit(dovetail.grad(_loss(f), argnums=(0, 1)))(SHARED, rows)
    assert result.sharding.is_equivalent_to(rows.sharding, 2)
    assert of_rows.sharding.is_equivalent_to(rows.sharding, 2)
    close(result, _numpy(p, k), 1e-6)
    wanted = _jit(dovetail.grad(_loss(f), argnums=(0, 1)))(SHARED, ROWS)
    close(of_shared, wanted[0], 1e-8)
    close(of_rows, wanted[1], 1e-8)


@examples(6)
@given(programs(KINDS, 4), st.sampled_from([0, 1, 2]), st.booleans(), st.booleans())
def test_under_shard_map(devices: Any, p: Any, k: int, check: bool, inside: bool) -> None:
    mesh = Mesh(np.array(devices), ("i",))
    specs = (P(), P("i"))
    f = _rows(p, k)
    mapped = shard_map(f, mesh=mesh, in_specs=specs, out_specs=P("i"), check_vma=check)
    close(_jit(mapped)(SHARED, ROWS), _numpy(p, k), 1e-6)
    wanted = _jit(dovetail.grad(_loss(f), argnums=(0, 1)))(SHARED, ROWS)
    if not inside:
        gradient = dovetail.grad(_loss(mapped), argnums=(0, 1))
    else:

        def part(shared: Any, rows: Any, weights: Any) -> Any:
            loss = lambda s, r: (f(s, r) * weights).sum()  # noqa: E731
            of_shared, of_rows = dovetail.grad(loss, argnums=(0, 1))(shared, rows)
            return (of_shared if check else lax.psum(of_shared, "i")), of_rows

        both = shard_map(
            part, mesh=mesh, in_specs=(*specs, P("i")), out_specs=specs, check_vma=check
        )
        gradient = lambda shared, rows: both(shared, rows, WEIGHTS)  # noqa: E731
    for a, b in zip(_jit(gradient)(SHARED, ROWS), wanted):
        close(a, b, 1e-8)
