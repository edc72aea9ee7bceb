"""Cells of the rows of references."""
