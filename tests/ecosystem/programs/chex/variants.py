"""A test case whose tests run with and without jit, on devices and with pmap."""

import unittest

import chex
import jax
import jax.numpy as jnp
from absl.testing import parameterized


class Tests(chex.TestCase):
    @chex.variants(with_jit=True, without_jit=True, with_device=True, without_device=True)
    @parameterized.parameters((1.0, 2.0), (3.0, 4.0))
    def test_sum(self, x, y):
        @self.variant
        def add(a, b):
            return jnp.asarray(a) + b

        chex.assert_trees_all_close(add(x, jnp.asarray(y)), x + y)

    @chex.all_variants(with_pmap=False)
    def test_gradient(self):
        square = self.variant(jax.grad(lambda x: x**2))
        self.assertEqual(square(3.0), 6.0)


def run():
    for _ in range(3):
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(result)
        yield None
    problems = [text for _, text in result.failures + result.errors]
    return {"run": result.testsRun, "problems": "".join(problems[:1])}
