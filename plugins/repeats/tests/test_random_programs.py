"""Programs of random parts that repeat, wired at random, compute the same to the last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dovetail import lax
from dovetail_backends import evaluate
from dovetail_core import ClosedJaxpr, stage_closed, typeof
from dovetail_core.ir.verification import check_jaxpr
from dovetail_repeats import outlining
from dovetail_repeats.primitive import repeated_p

OPERATIONS: list[Callable[..., Any]] = [
    lambda x, y, i: lax.add(x, y),
    lambda x, y, i: lax.sub(lax.neg(x), y),
    lambda x, y, i: lax.mul(x, lax.convert_element_type(0.5 + i, "float32")),
    lambda x, y, i: lax.dot(x, y),
    lambda x, y, i: lax.tanh(x),
    lambda x, y, i: lax.transpose(x, (1, 0)),
    lambda x, y, i: lax.broadcast_in_dim(lax.reduce_sum(x, (0,)), x.shape, (1,)),
    lambda x, y, i: lax.concatenate(
        [lax.slice(x, (1, 0), (3, 3)), lax.slice(y, (0, 0), (1, 3))], 0
    ),
]


def program(seed: int) -> ClosedJaxpr:
    """Parts of some operations, each on a value that is near and one that is anywhere."""
    rng = np.random.RandomState(seed)

    def f(*args: Any) -> list[Any]:
        values = list(args)
        for _ in range(rng.randint(1, 4)):
            operations = rng.randint(len(OPERATIONS), size=rng.randint(1, 7))
            near = rng.randint(1, 6, size=len(operations))
            far = rng.randint(1, 30, size=len(operations))
            for i in range(rng.randint(1, 7)):
                for n, a, b in zip(operations, near, far):
                    odd = rng.rand() < 0.02
                    y = values[0] if odd else values[-min(b, len(values))]
                    values.append(OPERATIONS[n](values[-min(a, len(values))], y, i * odd))
            values += [lax.neg(values[-1])] * rng.randint(2)
        return [values[i] for i in rng.randint(len(values), size=3)] + [values[-1]]

    return stage_closed(f, [typeof(np.zeros((3, 3), np.float32))] * 2, "f")


@pytest.fixture
def _everything_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outlining, "LENGTH", 2)
    monkeypatch.setattr(outlining, "SAVED", 2)
    monkeypatch.setattr(outlining, "_KERNELS", 1000)
    monkeypatch.setattr(outlining, "_CARRIED", 10)


@pytest.mark.usefixtures("_everything_pays")
@pytest.mark.parametrize("first", range(0, 300, 50))
def test_the_same_results(first: int):
    args = np.random.RandomState(7).rand(2, 3, 3).astype(np.float32) / 4
    result = 0
    with np.errstate(all="ignore"):
        for seed in range(first, first + 50):
            plain = program(seed)
            made = outlining.outlined(plain)
            check_jaxpr(made, "the test")
            result += any(e.primitive is repeated_p for e in made.eqns)
            for a, b in zip(evaluate(made, *args), evaluate(plain, *args), strict=True):
                np.testing.assert_array_equal(a, b, err_msg=f"seed {seed}")
    assert result > 10
