"""What is said where checks and errors are given something else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail.experimental import checkify
from dovetail.experimental.checkify import check

x = np.float32(-1)

CASES: list[tuple[Any, type[Exception], str]] = [
    (lambda: check(1, "m"), TypeError, r"check takes a boolean scalar, got i32\[\]~ in check at "),
    (lambda: check(np.array([True]), "m"), TypeError, r"boolean scalar, got bool\[1\] in check"),
    (lambda: check("a", "m"), TypeError, "boolean scalar, got 'a' in check"),
    (lambda: checkify.debug_check(x, "m"), TypeError, r"got f32\[\] in debug_check at .* reduce"),
    (lambda: check(True, 3), TypeError, "msg must be a string, got 3 of type int"),
    (lambda: check(True, "{a}"), KeyError, r"asks for argument 'a', but got 0 positional .*'\{\{'"),
    (lambda: check(True, "{} {}", x), IndexError, "asks for argument 1, but got 1 positional"),
    (lambda: check(True, "{a}", a="b"), TypeError, "are pytrees of arrays, got 'b' of type str"),
    (lambda: checkify.checkify(3), TypeError, "f must be a function, got 3 of type int"),
    (lambda: checkify.checkify(np.sin, 3), TypeError, "errors must be a set of kinds of errors"),
    (lambda: checkify.checkify(np.sin, {int}), TypeError, "Use user_checks, automatic_checks"),
    (lambda: checkify.check_error(3), TypeError, "check_error takes an Error, as checkify"),
]


@pytest.mark.parametrize("n", range(len(CASES)))
def test_bad_input(n: int) -> None:
    f, kind, text = CASES[n]
    with pytest.raises(kind, match=text):
        f()


def test_an_error_that_is_traced_cannot_be_asked() -> None:
    def f(x: Any) -> Any:
        error, _ = checkify.checkify(lambda x: check(x > 0, "m"))(x)
        return error.get()

    wanted = r"an Error that is being traced is asked what failed at .*test_bad_input\.py"
    with pytest.raises(ValueError, match=wanted):
        dovetail.jit(f)(x)
