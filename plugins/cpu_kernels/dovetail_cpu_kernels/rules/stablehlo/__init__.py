"""Lowerings that call kernels, and leave to the rules that they replace what those do better."""

from ...library import targets
from . import cumulatives as cumulatives, matrices as matrices, sorting as sorting

targets()  # where the library cannot be loaded no rule is replaced
