"""The command line ``dovetail``: ``plugins``, ``matrix``, ``explain``, ``doctor`` and plugins' own."""

from .command import Command as Command
from .main import main as main
