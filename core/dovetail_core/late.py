"""Names of the kernel that short programs do not need: each is loaded when it is first used."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dovetail_cli.command import Command as Command
    from dovetail_high.lowering import (
        lower_to_lo as lower_to_lo,
        lower_values as lower_values,
        raise_values as raise_values,
        to_lo_rules as to_lo_rules,
    )
    from dovetail_high.types import (
        HiType as HiType,
        high_algebra as high_algebra,
        register_hitype as register_hitype,
    )
    from dovetail_hooks import hookimpl as hookimpl
    from dovetail_mutable import mutable_values as mutable_values
    from dovetail_surface import surface as surface
    from dovetail_surface.configuration import config as config
    from dovetail_text.parser import parse_ir as parse_ir, parse_type as parse_type
    from dovetail_text.printer import print_ir as print_ir, printed_constants as printed_constants
    from dovetail_text.syntax import (
        register_dtype as register_dtype,
        register_numbered as register_numbered,
        register_parameter as register_parameter,
        register_type_notation as register_type_notation,
    )

    from .interpret import passes as passes
    from .interpret.passes import Pass as Pass
    from .ir.verification import check_jaxpr as check_jaxpr
else:
    from dovetail_base.lazy import lazy_exports

    __getattr__, __dir__ = lazy_exports("dovetail_core")
