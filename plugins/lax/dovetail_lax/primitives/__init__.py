"""The primitives on arrays, by family; importing this defines all of them."""

from . import arithmetic as arithmetic
from . import bits as bits
from . import comparison as comparison
from . import complex as complex
from . import conversion as conversion
from . import creation as creation
from . import exponential as exponential
from . import identity as identity
from . import rng as rng
from . import rounding as rounding
from . import selection as selection
from . import special as special
from . import trigonometric as trigonometric
from . import conv as conv
from . import cumulative as cumulative
from . import dot as dot
from . import fft as fft
from . import reductions as reductions
from . import sorting as sorting
from . import windows as windows
