"""Where the library is not built, in the environment of the other plugins' tests, there is nothing
to test: `make test-kernels` builds it."""

import importlib.util

import numpy as np
import pytest

BUILT = importlib.util.find_spec("dovetail_cpu_kernels") is not None
collect_ignore_glob = [] if BUILT else ["test_*.py"]


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def both():
    """Runs a function with kernels and as XLA does: the results of both, as NumPy arrays."""
    import dovetail
    from dovetail_cpu_kernels import cpu_kernels

    def run(function, *args):
        def compiled(*xs):
            return function(*xs)

        result = []
        for used in (True, False):
            with cpu_kernels(used):
                lowered = dovetail.jit(compiled).lower(*args)
                assert ("dovetail_cpu_" in lowered.as_text()) is used
                out = lowered.compile()(*args)
            result.append([np.asarray(x) for x in dovetail.tree.leaves(out)])
        return result

    return run


@pytest.fixture
def same_bits(both):
    """Asserts that both give the same bits."""

    def check(function, *args):
        for mine, xla in zip(*both(function, *args)):
            assert mine.dtype == xla.dtype and mine.shape == xla.shape
            assert mine.tobytes() == xla.tobytes()
        return mine

    return check
