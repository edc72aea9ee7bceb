"""Rules of ``ad.jvp``: a value with a tangent cannot be put into a box from outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from dovetail_ad import jvp_rules
from dovetail_core import current_source, describe_source

from ..box import set_p


@jvp_rules.register(set_p)
def _set_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> NoReturn:
    raise TypeError(
        f"a value that is being differentiated is put into a box{describe_source(current_source())}"
        ", which was made outside of the differentiated function and cannot have a derivative. "
        "Pass dovetail.lax.stop_gradient(value) if its derivative is not wanted, or make the box "
        "inside of the function."
    )
