"""Which eager operations are compiled by the quick profile."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_jit.call import miss


@pytest.mark.parametrize("size, profile", [(7, "quick"), (33, "default"), (10_007, "default")])
def test_only_operations_on_few_elements_are_compiled_quickly(
    size: int, profile: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result: list[Any] = []
    compile_one = miss.executable_for

    def note(request: Any) -> Any:
        result.append(request.key.profile)
        return compile_one(request)

    monkeypatch.setattr(miss, "executable_for", note)
    x = np.ones((size, 1), np.float32)  # a shape that no other test has
    np.testing.assert_allclose(lax.tanh(x), np.tanh(x), rtol=1e-6)
    assert result == [profile]
