"""PJRT backends: lowering to StableHLO and compilation."""

from typing import TYPE_CHECKING

# Gives the runtime's array type its methods before any array exists.
from .. import array as array

if TYPE_CHECKING:
    from ..rules.stablehlo import elementwise as elementwise
    from .attributes import (
        bool_array as bool_array,
        i64_array as i64_array,
        i64_dense as i64_dense,
        spelled as spelled,
    )
    from .backend import PjrtBackend as PjrtBackend, backend_of as backend_of
    from .builder import Builder as Builder
    from .emitter import (
        Constant as Constant,
        ModuleText as ModuleText,
        Region as Region,
        Val as Val,
        shared_region as shared_region,
    )
    from .facts import ModuleFacts as ModuleFacts
    from .module import LoweredModule as LoweredModule, lower_module as lower_module
    from .text import (
        dense as dense,
        element_type as element_type,
        tensor_type as tensor_type,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
