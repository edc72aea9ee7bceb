"""What the tests of jaxlie import and its source distribution lacks: samples and comparisons."""

import functools
import itertools
import random

import jax
import jaxlie
import numpy as np
import pytest

jax.config.update("jax_enable_x64", True)

GROUPS = (jaxlie.SO2, jaxlie.SE2, jaxlie.SO3, jaxlie.SE3)
BATCHES = ((), (1,), (3, 1, 2))


def general_group_test(f, max_examples=3):
    """Run a test of a group and batch axes for each pair of them, with some random seeds."""

    @pytest.mark.parametrize("batch_axes", BATCHES, ids=str)
    @pytest.mark.parametrize("Group", GROUPS)
    @functools.wraps(f)
    def test(Group, batch_axes):
        for seed in range(max_examples):
            random.seed(seed)
            np.random.seed(seed)
            f(Group, batch_axes)

    return test


general_group_test_faster = functools.partial(general_group_test, max_examples=1)


def sample_transform(Group, batch_axes=()):
    """Return random elements of a group."""
    return Group.sample_uniform(jax.random.PRNGKey(random.getrandbits(31)), batch_axes)


def assert_arrays_close(*arrays, rtol=1e-8, atol=1e-8):
    """Compare each array with the next."""
    for one, other in itertools.pairwise(arrays):
        assert np.isfinite(one).all()
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


def assert_transforms_close(a, b):
    """Compare matrices, and parameters: of quaternions up to their sign."""
    assert type(a) is type(b)
    assert_arrays_close(a.as_matrix(), b.as_matrix())
    assert_arrays_close(_with_one_sign(a), _with_one_sign(b))


def _with_one_sign(transform):
    parameters = np.array(transform.parameters())
    if isinstance(transform, jaxlie.SO3 | jaxlie.SE3):
        quaternion = parameters[..., :4]  # a view: the first four of an SE3, too
        largest = np.abs(quaternion).argmax(-1, keepdims=True)
        quaternion *= np.sign(np.take_along_axis(quaternion, largest, -1))
    return parameters


def jacnumerical(f):
    """Return the Jacobian of ``f`` by central differences."""

    def jacobian(x):
        x = np.asarray(x, np.float64)
        step = 1e-5
        columns = [
            (np.asarray(f(x + step * unit)) - np.asarray(f(x - step * unit))) / (2 * step)
            for unit in np.eye(x.size).reshape(x.size, *x.shape)
        ]
        return np.stack(columns, -1).reshape(*columns[0].shape, *x.shape)

    return jacobian
