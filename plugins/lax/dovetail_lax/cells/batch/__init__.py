"""Cells of ``batching.batch``: the primitives on arrays with a mapped axis."""

from . import conversion as conversion
from . import elementwise as elementwise
from . import identity as identity
from . import rng as rng
