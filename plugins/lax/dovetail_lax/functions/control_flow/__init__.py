"""Control flow: ``cond``, ``switch``, ``while_loop``, ``fori_loop``, ``scan``, ``map``."""

from .branches import cond as cond, switch as switch
from .loops import fori_loop as fori_loop, while_loop as while_loop
from .scanning import map as map, scan as scan
