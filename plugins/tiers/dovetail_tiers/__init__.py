"""Tiers: a program runs in a quickly compiled form while another process compiles it in full.

``tiers`` decides, ``choice`` says which programs can be and which gain by it, ``compiler`` is the
process as its parent sees it and ``worker`` what runs in it, ``frames`` is what they say to each
other, ``successor`` a full executable that is being made. ``interpreted`` is a program that NumPy
runs meanwhile, and ``estimate`` says how long that takes.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .options import tiered as tiered
else:
    from dovetail_core import lazy_exports

    __getattr__, __dir__ = lazy_exports(__name__)
