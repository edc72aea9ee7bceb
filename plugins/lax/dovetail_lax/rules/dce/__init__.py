"""Rules of ``dce``: what can be dropped of operations whose results are not all used."""

from . import sorting as sorting
