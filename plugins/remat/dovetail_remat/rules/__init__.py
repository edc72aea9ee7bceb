"""Rules of the rows ``remat`` and ``name``."""
