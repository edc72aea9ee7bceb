"""Lowerings that call kernels, and leave to the rules that they replace what those do better."""

from ...library import targets
from . import (
    convolutions as convolutions,
    cumulatives as cumulatives,
    matrices as matrices,
    products as products,
    scattering as scattering,
    sorting as sorting,
)

targets()  # where the library cannot be loaded no rule is replaced
