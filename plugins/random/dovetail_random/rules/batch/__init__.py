"""Rules in the column ``batching.batch``."""

from . import draws as draws
