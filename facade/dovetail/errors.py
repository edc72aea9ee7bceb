"""``import dovetail.errors``: the names of dovetail_core.base.errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.registry.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_core.base.errors import (
        ConcretizationTypeError as ConcretizationTypeError,
        DovetailError as DovetailError,
        IRError as IRError,
        MissingRule as MissingRule,
        NonConcreteBooleanIndexError as NonConcreteBooleanIndexError,
        PluginError as PluginError,
        RegistryError as RegistryError,
        RuleConflict as RuleConflict,
        TracerArrayConversionError as TracerArrayConversionError,
        TracerBoolConversionError as TracerBoolConversionError,
        TracerIntegerConversionError as TracerIntegerConversionError,
        UnexpectedTracerError as UnexpectedTracerError,
    )

_WHERE = {
    "ConcretizationTypeError": ("kernel", "dovetail_core.base.errors:ConcretizationTypeError"),
    "DovetailError": ("kernel", "dovetail_core.base.errors:DovetailError"),
    "IRError": ("kernel", "dovetail_core.base.errors:IRError"),
    "MissingRule": ("kernel", "dovetail_core.base.errors:MissingRule"),
    "NonConcreteBooleanIndexError": (
        "kernel",
        "dovetail_core.base.errors:NonConcreteBooleanIndexError",
    ),
    "PluginError": ("kernel", "dovetail_core.base.errors:PluginError"),
    "RegistryError": ("kernel", "dovetail_core.base.errors:RegistryError"),
    "RuleConflict": ("kernel", "dovetail_core.base.errors:RuleConflict"),
    "TracerArrayConversionError": (
        "kernel",
        "dovetail_core.base.errors:TracerArrayConversionError",
    ),
    "TracerBoolConversionError": ("kernel", "dovetail_core.base.errors:TracerBoolConversionError"),
    "TracerIntegerConversionError": (
        "kernel",
        "dovetail_core.base.errors:TracerIntegerConversionError",
    ),
    "UnexpectedTracerError": ("kernel", "dovetail_core.base.errors:UnexpectedTracerError"),
}
__all__ = [
    "ConcretizationTypeError",
    "DovetailError",
    "IRError",
    "MissingRule",
    "NonConcreteBooleanIndexError",
    "PluginError",
    "RegistryError",
    "RuleConflict",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "UnexpectedTracerError",
]

__getattr__ = _facade_getattr(__name__, _WHERE)


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE})
