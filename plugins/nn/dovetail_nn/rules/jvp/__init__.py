"""Rules in the column ``ad.jvp``."""

from . import rows as rows
