"""Rules in the column ``backends.stablehlo``."""

from . import rows as rows
