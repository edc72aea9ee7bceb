"""Names of the kernel that short programs do not need: each is loaded when it is asked for."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .check import check_jaxpr as check_jaxpr
    from .command import Command as Command
    from .hooks import hookimpl as hookimpl
    from .lowering import (
        lower_to_lo as lower_to_lo,
        lower_values as lower_values,
        raise_values as raise_values,
        to_lo_rules as to_lo_rules,
    )
    from .notation import (
        register_dtype as register_dtype,
        register_parameter as register_parameter,
        register_type_notation as register_type_notation,
    )
    from .parser import parse_ir as parse_ir, parse_type as parse_type
    from .passes import Pass as Pass
    from .printer import print_ir as print_ir, printed_constants as printed_constants
else:
    from .lazy import lazy_exports

    __getattr__, __dir__ = lazy_exports("dovetail_core")
