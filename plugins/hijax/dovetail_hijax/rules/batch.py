"""Rules of ``batching.batch``: a mapped value cannot be put into a box from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from dovetail_batching import batch_rules
from dovetail_core import current_source, describe_source

from ..box import set_p


@batch_rules.register(set_p)
def _set_batch(axis: Any, args: Sequence[Any], dims: Sequence[Any], /, **params: Any) -> NoReturn:
    raise TypeError(
        f"a mapped value is put into a box{describe_source(current_source())} under vmap, which "
        "was made outside of the mapped function, so that all of its calls would write to one box. "
        "Make the box inside of the function, or return the value and put it there outside."
    )
