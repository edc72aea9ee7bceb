"""``import dovetail.test_util``: the names of dovetail_ad.test_util."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_ad.test_util import (
        check_grads as check_grads,
        check_jvp as check_jvp,
        check_vjp as check_vjp,
    )

_WHERE = {
    "check_grads": ("ad", "dovetail_ad.test_util:check_grads"),
    "check_jvp": ("ad", "dovetail_ad.test_util:check_jvp"),
    "check_vjp": ("ad", "dovetail_ad.test_util:check_vjp"),
}
__all__ = [
    "check_grads",
    "check_jvp",
    "check_vjp",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
