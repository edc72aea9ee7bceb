"""Functions that make arrays: from values, from nothing, ranges, grids and matrices."""
