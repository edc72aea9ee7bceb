"""Lowerings that call kernels; where XLA is faster they call the rules that they replace."""

from ...library import targets
from . import (
    convolutions as convolutions,
    cumulatives as cumulatives,
    matrices as matrices,
    products as products,
    scattering as scattering,
    sorting as sorting,
)

targets()  # if the library cannot be loaded, no rule is replaced
