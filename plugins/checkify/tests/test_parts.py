"""Checks in functions that each device runs for a part of the data."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import P, lax, shard_map
from dovetail.experimental import checkify
from dovetail.experimental.checkify import check
from dovetail.sharding import Mesh
from dovetail_backends import PjrtBackend
from dovetail_core import Interpreter
from dovetail_core.interpret.interpreter import program_of
from dovetail_xla.client import make_cpu_client

XS = np.array([[1, 2, 3], [4, -5, 6], [7, 8, -9], [1, 1, 1]], np.float32)


@pytest.fixture(scope="module")
def mesh() -> Mesh:
    backend = PjrtBackend("cpu", lambda: make_cpu_client(4), priority=0, available=lambda: "")
    return Mesh(np.array(backend.local_devices()).reshape(4, 1), ("x", "y"))


def positive(x: Any) -> Any:
    check(dnp.all(x > 0), "not positive: {x}", x=x.min())
    return x * 2


def failures(f: Any, *args: Any) -> str | None:
    """What failed, the same evaluated and compiled, and where among the devices."""
    result: list[str | None] = []
    for g in (checkify.checkify(f), dovetail.jit(checkify.checkify(f))):
        said = g(*args)[0].get()
        result.append(said and re.sub(r" \(`check` failed\) at [^(]*\([^)]*\)", "", said))
    assert result[0] == result[1]
    return result[0]


@pytest.mark.parametrize("check_vma", [True, False])
def test_the_first_device_is_reported(mesh: Mesh, check_vma: bool) -> None:
    f = shard_map(positive, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=check_vma)
    assert failures(f, abs(XS)) is None
    assert failures(f, XS) == "not positive: -5.0, at mapped index 1"
    np.testing.assert_array_equal(checkify.checkify(f)(XS)[1], XS * 2)


def test_loops_and_branches_inside(mesh: Mesh) -> None:
    def loop(x: Any) -> Any:
        def body(c: Any, row: Any) -> Any:
            return lax.cond(row > 0, lambda c: c + row, lambda c: c + positive(row), c), row

        return lax.scan(body, lax.pvary(dnp.float32(0), "x"), x[0])[0][None]

    f = shard_map(loop, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    assert failures(f, XS) == "not positive: -5.0, at mapped index 1"
    assert failures(f, abs(XS)) is None
    np.testing.assert_array_equal(checkify.checkify(f)(XS)[1], [6, 0, -3, 3])


def test_what_failed_before_and_after(mesh: Mesh) -> None:
    inner = shard_map(positive, mesh=mesh, in_specs=P("x"), out_specs=P("x"))

    def f(first: Any, xs: Any, last: Any) -> Any:
        check(first > 0, "before: {x}", x=first)
        out = inner(xs)
        check(last > 0, "after: {x}", x=last)
        return out

    one = np.float32(1)
    assert failures(f, one, abs(XS), one) is None
    assert failures(f, -one, XS, one) == "before: -1.0"
    assert failures(f, one, XS, -one) == "not positive: -5.0, at mapped index 1"
    assert failures(f, one, abs(XS), -one) == "after: -1.0"


def test_maps_around_and_inside(mesh: Mesh) -> None:
    def rows(x: Any) -> Any:
        return dovetail.vmap(dovetail.vmap(positive))(x)

    f = shard_map(rows, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    assert failures(f, XS) == "not positive: -5.0, at mapped index 1,0,1"
    batched = dovetail.vmap(checkify.checkify(f))(np.stack([abs(XS), XS]))[0]
    assert "not positive: -5.0" in (batched.get() or "")


def test_checks_of_kinds_of_errors(mesh: Mesh) -> None:
    f = shard_map(dnp.log, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    said = checkify.checkify(f, checkify.nan_checks)(XS)[0].get()
    assert said is not None and "primitive: log" in said and said.endswith("at mapped index 1")
    assert checkify.checkify(f, checkify.nan_checks)(abs(XS))[0].get() is None


def test_pmap() -> None:
    f = dovetail.pmap(positive, axis_name="i")
    assert failures(f, XS[:1]) is None
    assert failures(f, XS[1:2]) == "not positive: -5.0, at mapped index 0"


def test_an_interpreter_that_joins_no_states_says_so(mesh: Mesh) -> None:
    class Adds(Interpreter):
        def visit(self, eqn: Any, args: list[Any]) -> Any:
            if eqn.primitive.name == "mul":
                self.state = [self.state[0] + args[0].sum()]
            return NotImplemented

    f = shard_map(lambda x: x * 2, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    program, leaves, _ = program_of(f, XS)
    with pytest.raises(TypeError, match=r"changes in shard_map .*Interpreter\.joined"):
        Adds([np.float32(0)]).run(program, leaves)
