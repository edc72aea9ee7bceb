"""The quantities of the examples: units are checked while tracing, and cost nothing after it."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail import lax
from dovetail.hijax import lower_to_lo

JOULE = (("kg", 1), ("m", 2), ("s", -2))


def energy(mass, speed):
    return 0.5 * mass * speed * speed


@pytest.fixture
def stone(units):
    return units.quantity(2.0, kg=1), units.quantity(3.0, m=1, s=-1)


@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit, dovetail.remat])
def test_units_of_results_and_gradients(units, stone, wrap):
    result = wrap(energy)(*stone)
    assert float(result.numbers) == 9.0 and result.unit == JOULE
    mass, speed = dovetail.grad(lambda m, v: units.split(wrap(energy)(m, v))[0], (0, 1))(*stone)
    assert float(speed.numbers) == 6.0 and speed.unit == (("m", -1), ("s", 1))
    assert float(mass.numbers) == 4.5 and mass.unit == (("kg", -1),)
    # A step against the gradient has the unit of what it changes.
    assert (stone[1] - speed * stone[1] * stone[1]).unit == (("m", 1), ("s", -1))


def test_tangents_have_the_unit_of_their_primal(units, stone):
    out, tangent = dovetail.jvp(energy, stone, stone)
    assert tangent.unit == out.unit == JOULE and float(tangent.numbers) == 27.0


def test_an_unused_quantity_has_a_gradient_in_its_unit(units, stone):
    result = dovetail.grad(lambda v, x: x)(stone[1], 1.0)
    assert result.unit == (("m", -1), ("s", 1)) and float(result.numbers) == 0.0
    _, pull = dovetail.vjp(lambda v, x: x, stone[1], 1.0)
    assert pull(np.float32(1.0))[0].unit == (("m", -1), ("s", 1))


@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit, dovetail.grad])
def test_a_mistake_is_found_while_tracing(units, stone, wrap):
    message = r"add takes quantities in one unit, got kg m\^2 s\^-2 and kg at .*test_units.py"
    with pytest.raises(TypeError, match=message):
        wrap(lambda m, v: energy(m, v) + m)(*stone)
    with pytest.raises(TypeError, match="sub takes quantities in one unit, got m s"):
        wrap(lambda m, v: v - 1.0)(*stone)


def test_the_compiled_program_has_no_units(units, stone):
    program = dovetail.make_jaxpr(energy)(*stone)
    assert "f32[] in m s^-1" in str(program)
    names = [e.primitive.name for e in lower_to_lo(program).eqns]
    assert set(names) == {"mul"}


def test_a_loop_must_keep_the_unit(units, stone):
    keep = lax.fori_loop(0, 3, lambda i, v: v + v, stone[1])
    assert float(keep.numbers) == 24.0 and keep.unit == (("m", 1), ("s", -1))
    with pytest.raises(
        TypeError, match=r"has type f32\[\] in m s\^-1 in the input and f32\[\] in m\^2"
    ):
        lax.fori_loop(0, 3, lambda i, v: v * v, stone[1])


def test_a_method_that_is_missing_is_named(units, stone):
    message = (
        r"QuantityType \(units\) has no method mapped, which is needed to map an axis over a value "
        r"\(vmap, scan\).*Define QuantityType.mapped\(self, size, spec\)"
    )
    with pytest.raises(NotImplementedError, match=message):
        dovetail.vmap(lambda v: v * v)(units.quantity(np.ones(3, np.float32), m=1))


def test_an_operator_that_is_missing(units, stone):
    with pytest.raises(TypeError, match="has no operator __matmul__"):
        dovetail.jit(lambda v: v @ v)(stone[1])


def test_an_example_that_runs(units, capsys):
    units.main()
    assert "numbers=Array(6., dtype=float32)" in capsys.readouterr().out
