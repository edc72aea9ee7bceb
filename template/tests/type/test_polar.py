"""The high type under every transformation, and that nothing of it is left in what is compiled."""

from __future__ import annotations

import dovetail
import numpy as np
import pytest
from dovetail_core import lower_to_lo

from dovetail_acme import Polar, power, real
from dovetail_acme.type.operations import make_p

f32 = np.float32
NUMBERS = np.array([[2, 3], [0.5, 1]], f32)
ANGLES = np.array([[0, 0.5], [1, -2]], f32)


@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit])
def test_values(wrap):
    z = Polar(NUMBERS, ANGLES)
    expected = (NUMBERS * np.exp(1j * ANGLES)) ** 3
    np.testing.assert_allclose(wrap(lambda z: real(power(z, 3)))(z), expected.real, rtol=1e-4)
    assert isinstance(wrap(lambda z: power(z, 2))(z), Polar)


def test_gradients_are_polar():
    found = dovetail.grad(lambda z: real(power(z, 3)).sum())(Polar(NUMBERS, ANGLES))
    wave = 3 * NUMBERS**2 * np.cos(3 * ANGLES)
    np.testing.assert_allclose(found.amplitude, wave, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(found.phase, -3 * NUMBERS**3 * np.sin(3 * ANGLES), rtol=1e-4)


def test_tangents_are_polar():
    z = Polar(NUMBERS, ANGLES)
    _, tangent = dovetail.jvp(lambda z: power(z, 2), (z,), (Polar(NUMBERS, ANGLES),))
    np.testing.assert_allclose(tangent.amplitude, 2 * NUMBERS**2, rtol=1e-5)
    np.testing.assert_allclose(tangent.phase, 2 * ANGLES, rtol=1e-5)


@pytest.mark.parametrize("axis", [0, 1])
def test_axes_are_mapped(axis):
    z = Polar(NUMBERS, ANGLES)
    mapped = dovetail.vmap(lambda z: power(z, 2), in_axes=axis, out_axes=axis)(z)
    np.testing.assert_allclose(mapped.amplitude, NUMBERS**2, rtol=1e-5)
    one = dovetail.vmap(lambda a: real(make_p.bind(a, f32(0.5))))(NUMBERS[0])
    np.testing.assert_allclose(one, NUMBERS[0] * np.cos(f32(0.5)), rtol=1e-5)


def test_what_is_compiled_has_arrays_only():
    program = dovetail.make_jaxpr(lambda z: real(power(z, 2)))(Polar(NUMBERS, ANGLES))
    assert "polar[2, 2]" in str(program)
    assert "polar" not in str(lower_to_lo(program))


def test_amplitude_and_phase_of_two_types():
    with pytest.raises(TypeError) as e:
        make_p.bind(NUMBERS, f32(0))
    assert "amplitude and phase of one type, got f32[2,2] and f32[]" in str(e.value)
