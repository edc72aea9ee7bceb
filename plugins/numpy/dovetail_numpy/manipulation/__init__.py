"""Functions that rearrange arrays: shapes, axes, joining, splitting, repeating, padding."""
