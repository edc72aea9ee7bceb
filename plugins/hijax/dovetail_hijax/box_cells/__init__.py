"""Cells of the rows of boxes."""
