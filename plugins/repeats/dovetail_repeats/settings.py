"""The option of the plugin, and how much must repeat."""

from dovetail_base.options import as_bool
from dovetail_core import Option, config

compile_repeats_once = config.add(
    Option(
        "compile_repeats_once",
        True,
        "Large parts that repeat in a program, as the layers of a model, are compiled once and "
        "called where they stand.",
        check=as_bool,
        traced=True,
    )
)

LENGTH = 32
"""The least equations of an instance: XLA knows short ones again by itself, when it has fused."""
SAVED = 192
"""The least equations that need not be compiled."""
