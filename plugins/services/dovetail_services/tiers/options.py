"""The option ``tiered``, and the provider of executables that it switches on."""

from __future__ import annotations

from dovetail_base.environment import one_of
from dovetail_core import Option, config
from dovetail_jit import ExecutableProvider, Request
from dovetail_xla import fork

MODES = ("off", "auto", "always")


tiered = config.add(
    Option(
        "tiered",
        "off",
        "Programs of jit are run by NumPy, or in a quickly compiled form, until another process "
        "has compiled them in full: 'always', 'auto' (where that is expected to gain much), or "
        "'off'. The forms round differently.",
        check=one_of(MODES),
    )
)


def _applies(request: Request) -> bool:
    if tiered.value == "off" or request.is_operation or not request.may_be_provisional:
        return False
    return not fork.forked()


PROVIDER = ExecutableProvider(
    "tiers",
    "dovetail_services.tiers.provider:get",
    _applies,
    before=("equal_modules",),
    after=("disk_cache",),
)
