"""Rules of the primitives ``remat``, ``name`` and ``place``."""
