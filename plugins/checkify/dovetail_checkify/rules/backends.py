"""Evaluation of checks outside of ``checkify``, which raise, and lowering, which refuses them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import reference_rules, stablehlo_rules
from dovetail_core import def_impl, describe_source

from ..errors import Check, Error
from ..primitive import check_p


@def_impl(check_p)
def _check_eval(
    failed: Any, code: Any, *payload: Any, checks: tuple[Check, ...], debug: bool
) -> list[Any]:
    if not debug:
        Error(np.asarray(failed), code, checks, payload).throw()
    return []


@reference_rules.register(check_p)
def _check_reference(
    failed: Any, code: Any, *payload: Any, checks: tuple[Check, ...], debug: bool
) -> list[Any]:
    return _check_eval(failed, code, *payload, checks=checks, debug=debug)


@stablehlo_rules.register(check_p)
def _check_stablehlo(b: Any, *operands: Any, checks: tuple[Check, ...], debug: bool) -> list[Any]:
    if not debug:
        raise ValueError(
            f"a check{describe_source(checks[0].source)} is compiled, and nobody takes its "
            "failure: compiled code raises nothing. Transform the function first, error, out = "
            "jit(checkify(f))(...), and call error.throw(); or use debug_check."
        )
    return []
