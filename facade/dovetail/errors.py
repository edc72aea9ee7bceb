"""``import dovetail.errors``: the names of dovetail_core.errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_core.facade_names import facade_getattr as _facade_getattr

if TYPE_CHECKING:
    from dovetail_core.errors import (
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
    "ConcretizationTypeError": ("kernel", "dovetail_core.errors:ConcretizationTypeError"),
    "DovetailError": ("kernel", "dovetail_core.errors:DovetailError"),
    "IRError": ("kernel", "dovetail_core.errors:IRError"),
    "MissingRule": ("kernel", "dovetail_core.errors:MissingRule"),
    "NonConcreteBooleanIndexError": ("kernel", "dovetail_core.errors:NonConcreteBooleanIndexError"),
    "PluginError": ("kernel", "dovetail_core.errors:PluginError"),
    "RegistryError": ("kernel", "dovetail_core.errors:RegistryError"),
    "RuleConflict": ("kernel", "dovetail_core.errors:RuleConflict"),
    "TracerArrayConversionError": ("kernel", "dovetail_core.errors:TracerArrayConversionError"),
    "TracerBoolConversionError": ("kernel", "dovetail_core.errors:TracerBoolConversionError"),
    "TracerIntegerConversionError": ("kernel", "dovetail_core.errors:TracerIntegerConversionError"),
    "UnexpectedTracerError": ("kernel", "dovetail_core.errors:UnexpectedTracerError"),
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
