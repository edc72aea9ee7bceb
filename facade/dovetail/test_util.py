"""``import dovetail.test_util``: the names of the plugin behind it."""

from dovetail_ad.test_util import (
    check_grads as check_grads,
    check_jvp as check_jvp,
    check_vjp as check_vjp,
)


__all__ = [
    "check_grads",
    "check_jvp",
    "check_vjp",
]
