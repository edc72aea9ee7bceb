"""What operations and programs cost: by hand, and by XLA's own analysis of what it compiled."""

from __future__ import annotations

import numpy as np
import pytest
from acme_roofline import Machine, roofline

import dovetail
from dovetail import grad, jit, lax, nn, numpy as dnp, vmap

f32 = np.float32
M = Machine(flops=1e12, bandwidth=1e11, transcendental=10)


def ones(*shape):
    return np.ones(shape, f32)


def total(f, *args, **options):
    return roofline(f, M, **options)(*args).total


def analysis(f, *args):
    return jit(f).lower(*args).compile().cost_analysis()


def mlp(w1, w2, x):
    return dnp.mean((dnp.tanh(x @ w1) @ w2) ** 2)


def attention(q, k, v):
    weights = nn.softmax(q @ k.T / 8.0)
    return weights @ v


MLP = (ones(16, 32), ones(32, 8), ones(64, 16))
ATTENTION = (ones(128, 64), ones(96, 64), ones(96, 48))


def test_a_network_by_hand():
    found = total(mlp, *MLP)
    products = 2 * 64 * 16 * 32 + 2 * 64 * 32 * 8
    assert found.flops == products + 2 * 64 * 8 + 1  # squares, their sum, a quotient
    assert found.transcendentals == 64 * 32


def test_the_gradient_of_a_network_by_hand():
    # Forwards both products (of the second its operand); backwards one for each weight, and one
    # for the hidden values.
    found = total(grad(mlp, (0, 1)), *MLP)
    first, second = 2 * 64 * 16 * 32, 2 * 64 * 32 * 8
    products = 2 * first + 3 * second
    assert products < found.flops < products + 4 * 64 * (2 * 32 + 8)
    assert found.transcendentals == 2 * 64 * 32  # tanh, and exp for its slope


def test_attention_by_hand():
    found = total(attention, *ATTENTION)
    scores = 128 * 96
    assert found.transcendentals == scores  # exp
    # Products; then of each score a quotient by 8, maximum, difference, sum, quotient, and whether
    # it is above the largest, as one that is computed in another way may be.
    assert found.flops == 2 * scores * 64 + 2 * scores * 48 + 7 * scores


@pytest.mark.parametrize(
    ("f", "args"),
    [(mlp, MLP), (grad(mlp, (0, 1)), MLP), (attention, ATTENTION),
     (grad(lambda *a: attention(*a).sum(), (0, 1, 2)), ATTENTION),
     (lambda x, w: lax.conv(x, w, (1, 1), "VALID"), (ones(2, 3, 16, 16), ones(8, 3, 3, 3))),
     (vmap(lambda a, b: a @ b), (ones(5, 32, 16), ones(5, 16, 8)))],
)  # fmt: skip
def test_arithmetic_is_what_the_compiler_counts(f, args):
    """XLA fuses, and so does some operations again, and simplifies: a twentieth."""
    found, xla = total(f, *args), analysis(f, *args)
    np.testing.assert_allclose(found.flops, xla["flops"], rtol=0.05)
    np.testing.assert_allclose(found.transcendentals, xla.get("transcendentals", 0), rtol=0.05)


@pytest.mark.parametrize(
    ("f", "args"),
    [(lambda a, b: a + b, (ones(1000), ones(1000))), (dnp.exp, (ones(1000),)),
     (lambda a: dnp.tanh(2 * a) + 1, (ones(1000),)), (lambda a: a.T + 1, (ones(10, 100),)),
     (lambda a, b: a @ b, (ones(512, 256), ones(256, 128))), (lambda a: a[10:20], (ones(1000),)),
     (lambda a: dnp.sum(a), (ones(10, 100),)), (lambda a, b: a * b[:, None], (ones(9, 8), ones(9))),
     (lambda a: a.astype(dnp.float16), (ones(1000),))],
)  # fmt: skip
def test_memory_of_a_line_is_what_the_compiler_counts(f, args):
    """Functions that are one kernel. A scalar result counts several times there."""
    found, xla = total(f, *args).bytes, analysis(f, *args)["bytes accessed"]
    np.testing.assert_allclose(found, xla, rtol=0.02)


def test_operations_alone_move_what_lines_keep():
    report = roofline(lambda a: dnp.tanh(2 * a) + 1, M)(ones(1000))
    assert [e.what for e in report.operations] == ["mul", "tanh", "add"]
    assert [e.bytes for e in report.operations] == [8000, 8000, 8000]
    assert [e.bytes for e in report.lines] == [8000]


def test_a_value_that_another_line_needs_is_written():
    def f(a):
        b = dnp.exp(a)
        c = b + 1
        return c * b

    lines = sorted(roofline(f, M)(ones(1000)).lines, key=lambda e: e.number)
    assert [(e.read, e.written) for e in lines] == [(4000, 4000), (4000, 4000), (8000, 4000)]


def test_views_are_free():
    f = lambda a, b: dnp.broadcast_to(a.reshape(10, 100), (7, 10, 100)) * b  # noqa: E731
    (line,) = roofline(f, M)(ones(1000), ones(7, 10, 100)).lines
    assert (line.read, line.written, line.flops) == (4000 + 28000, 28000, 7000)


def test_updates_are_in_place():
    (line,) = roofline(lambda a, b: a.at[3:6].set(b), M)(ones(1000), ones(3)).lines
    assert line.bytes < 100
    (line,) = roofline(lambda a, i, b: a.at[i].add(b), M)(ones(1000), np.arange(3), ones(3)).lines
    assert line.bytes < 200 and line.flops < 50


def test_parts_read_what_they_take():
    (line,) = roofline(lambda a, i: a[i], M)(ones(1000, 50), np.arange(3)).lines
    assert 2 * 3 * 50 * 4 <= line.bytes < 1500


def test_half_the_bytes():
    a = dovetail.ShapeDtypeStruct((1000,), dnp.bfloat16)
    assert total(lambda a: a + a, a).bytes == 4000
