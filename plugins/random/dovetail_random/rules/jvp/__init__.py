"""Rules in the column ``ad.jvp``."""

from . import gamma as gamma
