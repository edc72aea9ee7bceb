"""The primitive of ``todense`` for traced arrays, which may be sparse."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive

todense_p = Primitive("todense")


@todense_p.def_abstract_eval
def _todense_type(x: Any) -> Any:
    return x


@todense_p.def_decomposition
def _todense(x: Any) -> Any:
    return x
