"""``experimental.roofline``: counts by hand, of transformed functions, by rules of one's own."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail import ShapeDtypeStruct, grad, jit, lax, nn, numpy as dnp, vmap
from dovetail.experimental import roofline as module
from dovetail.experimental.roofline import (
    RooflineResult,
    RooflineRuleContext,
    RooflineShape,
    register_roofline,
    register_standard_roofline,
    roofline,
    roofline_and_grad,
)
from dovetail_core import Primitive
from dovetail_experimental.roofline import roofline_rules

f32 = np.float32
A, B = ShapeDtypeStruct((8, 16), f32), ShapeDtypeStruct((16, 4), f32)
PRODUCT = 2 * 8 * 16 * 4
READ_A, READ_B, WRITTEN = 8 * 16 * 4, 16 * 4 * 4, 8 * 4 * 4
N = 8 * 16


def product(a, b):
    return a @ b


def counted(f, *args, **options):
    return roofline(f, **options)(*args)[1]


def unfused(f, *args):
    result = counted(f, *args)
    return result.unfused_flops, result.unfused_hbm_bytes


def test_a_product():
    out, result = roofline(product)(A, B)
    assert out == ShapeDtypeStruct((8, 4), f32)
    moved = READ_A + READ_B + WRITTEN
    assert result == RooflineResult(
        flops=PRODUCT, unfused_flops=PRODUCT, hbm_bytes=moved, unfused_hbm_bytes=moved,
        peak_hbm_bytes=READ_A + READ_B,
    )  # fmt: skip
    assert result == counted(jit(product), A, B) == counted(product, np.ones((8, 16), f32), B)


def test_pinned_operands_are_not_read():
    assert counted(product, A, B, pin_lhs_in_vmem=True).hbm_bytes == READ_B + WRITTEN
    assert counted(product, A, B, pin_rhs_in_vmem=True).hbm_bytes == READ_A + WRITTEN


def test_other_operations_are_fused():
    result = counted(lambda a, b: dnp.tanh(dnp.sin(a) @ b), A, B)
    assert (result.flops, result.hbm_bytes) == (PRODUCT, READ_A + READ_B + WRITTEN)
    assert result.unfused_flops == PRODUCT + N + 8 * 4
    assert result.unfused_hbm_bytes == result.hbm_bytes + 2 * READ_A + 2 * WRITTEN


@pytest.mark.parametrize(
    ("f", "flops", "moved"),
    [(dnp.sin, N, 8 * N), (lambda a: a + 1.0, N, 8 * N), (lambda a: a < 0, N, 5 * N),
     (lambda a: a.T, 0, 0), (lambda a: a.reshape(-1), 0, 0), (lambda a: a, 0, 0),
     (lambda a: dnp.sin(dnp.cos(a)), 2 * N, 16 * N)],
)  # fmt: skip
def test_single_operations(f, flops, moved):
    result = counted(f, A)
    assert (result.flops, result.hbm_bytes) == (0, 0)
    assert unfused(f, A) == (flops, moved)


def test_the_most_memory_is_that_between_two_operations():
    assert counted(dnp.sin, A).peak_hbm_bytes == 4 * N
    assert counted(lambda a: dnp.sin(a) + a, A).peak_hbm_bytes == 8 * N
    assert counted(lambda a: dnp.broadcast_to(a, (3, 8, 16)), A).peak_hbm_bytes == 12 * N


def test_control_flow():
    scan = lambda a: lax.scan(lambda c, _: (dnp.sin(c), None), a, None, length=5)[0]  # noqa: E731
    assert unfused(scan, A) == (5 * N, 5 * 8 * N)
    branch = lambda a: lax.cond(a[0, 0] > 0, dnp.sin, lambda a: dnp.cos(dnp.sin(a)), a)  # noqa: E731
    assert 2 * N <= unfused(branch, A)[0] < 2 * N + 4
    square = ShapeDtypeStruct((8, 8), f32)
    power = lambda a: lax.fori_loop(0, 4, lambda i, x: x @ a, a)  # noqa: E731
    assert counted(power, square).flops == 4 * 2 * 8**3


def test_transformed_functions():
    three = ShapeDtypeStruct((3, 8, 16), f32)
    assert counted(vmap(product, (0, None)), three, B).flops == 3 * PRODUCT
    loss = lambda a, b: dnp.sum(product(a, b))  # noqa: E731
    assert counted(grad(loss, (0, 1)), A, B).flops == 2 * PRODUCT  # one for each operand
    softmax = counted(nn.softmax, A)
    assert softmax.flops == 0 and softmax.unfused_flops >= 4 * N


def test_derivatives():
    result = counted(product, A, B, vjp=True)
    assert result.flops == 3 * PRODUCT  # one forwards, one for each operand
    assert result.hbm_bytes == 3 * (READ_A + READ_B + WRITTEN)
    out, forwards, backwards = roofline_and_grad(product, None, None, None)(A, B)
    assert out == ShapeDtypeStruct((8, 4), f32) and forwards == counted(product, A, B)
    assert backwards.flops == 3 * PRODUCT and 2 * backwards.hbm_bytes == result.hbm_bytes
    pinned = roofline_and_grad(product, None, None, None, pin_lhs_in_vmem=True)(A, B)
    assert pinned[1].hbm_bytes == READ_B + WRITTEN


def test_the_program_can_be_printed(capsys):
    counted(dnp.sin, A, print_jaxpr=True)
    assert "sin" in capsys.readouterr().out


@pytest.fixture
def kernel():
    kernel_p = Primitive("acme.kernel")
    kernel_p.def_abstract_eval(lambda x, *, k: x)
    yield kernel_p
    if kernel_p in roofline_rules.rules:
        del roofline_rules.rules[kernel_p], roofline_rules.origins[kernel_p]


def test_rules_of_ones_own(kernel):
    seen = []

    @register_roofline(kernel)
    def rule(ctx, *shapes, k):
        seen.append((ctx, shapes, k))
        return RooflineResult(
            flops=7, unfused_flops=9, ici_bytes={"x": 4}, peak_hbm_bytes=9999, hbm_bytes=1
        )

    result = counted(lambda a: dnp.sin(kernel.bind(kernel.bind(a, k=3), k=3)), A)
    assert (result.flops, result.unfused_flops, result.hbm_bytes) == (14, 18 + N, 2)
    assert (result.ici_bytes, result.peak_hbm_bytes) == ({"x": 8}, 9999)
    ctx, shapes, k = seen[0]
    assert isinstance(ctx, RooflineRuleContext) and ctx.primitive is kernel and k == 3
    assert shapes == (RooflineShape(shape=(8, 16), dtype=np.dtype(f32)),)
    assert (shapes[0].size, shapes[0].bytes) == (N, 4 * N)
    register_standard_roofline(kernel)
    assert unfused(lambda a: kernel.bind(a, k=3), A) == (0, 0)


def test_results_and_shapes():
    one = RooflineResult(flops=1, ici_bytes={"x": 1}, peak_hbm_bytes=3)
    two = RooflineResult(flops=2, ici_bytes={"y": 5}, peak_hbm_bytes=2)
    both = RooflineResult(flops=3, ici_bytes={"x": 1, "y": 5}, peak_hbm_bytes=3)
    assert one + two == both and RooflineResult.zeros() + one == one
    assert RooflineShape.total_bytes([A, B]) == READ_A + READ_B
    with pytest.raises(TypeError, match=r"RooflineShape.from_aval at .* takes a type of arrays"):
        RooflineShape.from_aval(3)


def test_several_devices():
    for f, name in (
        (lambda: roofline(product, object()), "roofline"),
        (lambda: roofline_and_grad(product, None, "x", None), "roofline_and_grad"),
    ):
        with pytest.raises(NotImplementedError, match=rf"^{name} at .*: programs on several devi"):
            f()


def test_names():
    assert module.cost_rules.name == "experimental.cost"
