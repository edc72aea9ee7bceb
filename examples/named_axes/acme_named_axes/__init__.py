"""Arrays whose axes have names: a third-party Dovetail plugin."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .arrays import (
        AxisError as AxisError,
        Named as Named,
        NamedType as NamedType,
        is_named as is_named,
        named as named,
        names_of as names_of,
        values as values,
    )
    from .operations import (
        apply as apply,
        dot as dot,
        index as index,
        reduce as reduce,
        rename as rename,
        scan as scan,
    )
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
