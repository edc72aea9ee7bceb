"""Rules in the column ``backends.reference``."""

from . import threefry as threefry
