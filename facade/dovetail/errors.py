"""``import dovetail.errors``: the names of the plugin behind it."""

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
