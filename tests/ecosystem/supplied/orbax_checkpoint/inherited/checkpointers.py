"""Orbax ships the tests that all of its checkpointers pass as classes to inherit."""

import orbax.checkpoint as ocp
from absl.testing import parameterized
from orbax.checkpoint._src.checkpointers import checkpointer_test_utils
from orbax.checkpoint.experimental.v1._src.training import checkpointer_test_base


class CheckpointerTest(checkpointer_test_utils.CheckpointerTestBase.Test):
    def checkpointer(self, handler, **options):
        return ocp.Checkpointer(handler, **options)


class AsyncCheckpointerTest(checkpointer_test_utils.CheckpointerTestBase.Test):
    def checkpointer(self, handler, **options):
        return ocp.AsyncCheckpointer(handler, **options)


class NewCheckpointerTest(checkpointer_test_base.CheckpointerTestBase.Test, parameterized.TestCase):
    pass
