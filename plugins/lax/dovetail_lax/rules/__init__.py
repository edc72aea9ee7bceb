"""Rules of the matrix for the primitives on arrays: one sub-package per column."""
