"""The option of the plugin, and the sizes of parts from which it applies."""

from dovetail_base.options import as_bool
from dovetail_core import Option, config

compile_repeats_once = config.add(
    Option(
        "compile_repeats_once",
        True,
        "Large parts that repeat in a program, as the layers of a model, are compiled once, as "
        "functions.",
        check=as_bool,
        traced=True,
    )
)

LENGTH = 32
"""The least number of equations of an instance: short ones XLA recognises itself after fusion."""
SAVED = 192
"""The least number of equations that need not be compiled."""
