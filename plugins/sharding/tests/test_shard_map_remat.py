"""``checkpoint`` of functions that contain ``shard_map``, with its policies and with effects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import P, checkpoint, checkpoint_policies as policies, lax, numpy as dnp, shard_map
from dovetail.ad_checkpoint import checkpoint_name

A = np.arange(32, dtype=np.float32).reshape(8, 4) / 32
W = np.ones((4, 4), np.float32)


def layer(a: Any, w: Any) -> Any:
    return lax.psum(dnp.sin(checkpoint_name(dnp.sin(a) @ w, "product")), "x")


def mapped(mesh: Any, f: Any, out: Any) -> Any:
    return shard_map(f, mesh=mesh, in_specs=(P("x"), P()), out_specs=out)


POLICIES = {
    "none": (None, 2),
    "dots": (policies.dots_saveable, 1),
    "dots without batches": (policies.dots_with_no_batch_dims_saveable, 1),
    "all": (policies.everything_saveable, 1),
    "nothing": (policies.nothing_saveable, 2),
    "names": (policies.save_only_these_names("product"), 1),
}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("policy, products", POLICIES.values(), ids=POLICIES)
def test_policies_keep_what_devices_compute(mesh, policy, products, compiled):
    f = mapped(mesh, layer, P())
    kept = checkpoint(dovetail.jit(f) if compiled else f, policy=policy)

    def gradients(g: Any) -> Any:
        return dovetail.grad(lambda a, w: (g(a, w) ** 2).sum(), (0, 1))

    for x, y in zip(gradients(kept)(A, W), gradients(f)(A, W)):
        np.testing.assert_allclose(x, y, rtol=1e-5)
    text = str(dovetail.make_jaxpr(gradients(kept))(A, W))
    assert text.count("dot_general") == products + 2  # those of the two gradients


def test_effects_happen_once(mesh):
    seen: list[int] = []

    def noted(a: Any, w: Any) -> Any:
        dovetail.debug.callback(lambda v: seen.append(v.size), a)
        return layer(a, w)

    f = checkpoint(mapped(mesh, noted, P()))
    result = dovetail.grad(lambda a: (f(a, W) ** 2).sum())(A)
    dovetail.effects_barrier()
    assert seen == [8] * 8
    plain = mapped(mesh, layer, P())
    np.testing.assert_allclose(result, dovetail.grad(lambda a: (plain(a, W) ** 2).sum())(A), 1e-5)
