"""Rules in the column ``batching.batch``."""

from . import rows as rows
