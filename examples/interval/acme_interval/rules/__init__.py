"""Rules of ``interval.bounds`` for ``lax``; imported when the table is first asked."""

from . import (
    arithmetic as arithmetic,
    conversion as conversion,
    functions as functions,
    indexing as indexing,
    logic as logic,
    monotone as monotone,
    ordering as ordering,
    products as products,
)
