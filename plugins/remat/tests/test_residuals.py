"""``saved_residuals`` and ``print_saved_residuals``: what is kept, named for people."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.ad_checkpoint import (
    checkpoint_name,
    checkpoint_policies as policies,
    print_saved_residuals,
    saved_residuals,
)

W = np.eye(3, dtype=np.float32)
X = np.ones(3, np.float32)


def f(w: Any, x: Any) -> Any:
    h = checkpoint_name(dnp.sin(w @ x), "hidden")
    return dnp.sum(dnp.exp(w @ h))


def described(*args: Any, **kwargs: Any) -> list[tuple[str, str, str]]:
    return [(r.kind, r.name, r.aval.str_short()) for r in saved_residuals(*args, **kwargs)]


def test_records_say_what_is_kept_and_how_large_it_is() -> None:
    records = saved_residuals(dovetail.remat(f, policy=policies.dots_saveable), W, X)
    result = {(r.kind, r.name, r.nbytes) for r in records}
    assert result == {
        ("argument", "w", 36), ("argument", "x", 12), ("operation", "dot_general", 12)
    }  # fmt: skip
    assert [r.kind for r in records][:2] == ["argument", "argument"]
    lines = [r.source for r in records if r.kind == "operation"]
    assert all("test_residuals.py:" in line and "(f)" in line for line in lines)


def test_they_are_printed_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    only = policies.save_only_these_names("hidden")
    print_saved_residuals(dovetail.remat(f, policy=only), W, X)
    lines = sorted(capsys.readouterr().out.splitlines())
    assert lines[0].startswith("f32[3,3] from the argument w")
    assert lines[1].startswith("f32[3] from the argument x")
    assert lines[2].startswith("f32[3] named 'hidden' from ") and lines[2].endswith("(f)")
    assert len(lines) == 3


def test_without_a_checkpoint_everything_that_derivatives_read_is_kept() -> None:
    result = described(f, W, X)
    assert ("operation", "cos", "f32[3]") in result
    assert ("operation", "exp", "f32[3]") in result
    assert described(dovetail.remat(f), W, X) == [
        ("argument", "w", "f32[3,3]"), ("argument", "x", "f32[3]")
    ]  # fmt: skip


def test_arguments_are_named_as_a_call_spells_them() -> None:
    def g(p: Any, *rest: Any, scale: Any) -> Any:
        return dnp.sum(p["w"] @ rest[0] * rest[1]["y"][0] * scale)

    result = saved_residuals(dovetail.remat(g), {"w": W}, X, {"y": [X]}, scale=np.float32(2))
    names = {r.name for r in result if r.kind == "argument"}
    assert names == {"p['w']", "rest[0]", "rest[1]['y'][0]", "scale"}


def test_types_will_do_and_nothing_is_computed() -> None:
    shape = dovetail.ShapeDtypeStruct((10**6, 10**5), np.float32)
    (record,) = saved_residuals(lambda x: dnp.sum(dnp.sin(x)), shape)
    assert (record.name, record.nbytes) == ("cos", 4 * 10**11)


def test_what_is_kept_inside_of_calls_and_loops_is_found_there() -> None:
    def g(x: Any, xs: Any) -> Any:
        def step(c: Any, t: Any) -> Any:
            return checkpoint_name(dnp.sin(c), "state") * t, None

        c, _ = lax.scan(step, x, xs)
        return dovetail.jit(lambda v: dnp.sum(dnp.exp(v)))(c)

    result = [str(r) for r in saved_residuals(g, X, np.ones((5, 3), np.float32))]
    assert any(s.startswith("f32[5,3] from the argument xs") for s in result)
    assert any(s.startswith("f32[5,3] named 'state' in each step of scan from ") for s in result)
    assert any(s.startswith("f32[3] output of exp from ") for s in result)


def test_values_that_are_closed_over_are_constants() -> None:
    c = dnp.asarray(X) * 2
    result = saved_residuals(lambda x: dnp.sum(c * dnp.sin(x)), X)
    assert [str(r) for r in result if r.kind == "constant"] == ["f32[3] from a constant"]


def test_what_is_moved_to_another_memory_is_said() -> None:
    policy = policies.save_and_offload_only_these_names(
        names_which_can_be_saved=[], names_which_can_be_offloaded=["hidden"],
        offload_src="device", offload_dst="pinned_host",
    )  # fmt: skip
    (record,) = (
        r for r in saved_residuals(dovetail.remat(f, policy=policy), W, X) if r.kind == "name"
    )
    assert record.memory == "pinned_host"
    assert str(record).startswith("f32[3] named 'hidden' in memory 'pinned_host' from ")
