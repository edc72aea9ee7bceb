"""Rules in the column ``backends.stablehlo``."""

from . import threefry as threefry
