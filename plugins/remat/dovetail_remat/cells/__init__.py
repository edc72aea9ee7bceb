"""Cells of the rows ``remat`` and ``name``."""
