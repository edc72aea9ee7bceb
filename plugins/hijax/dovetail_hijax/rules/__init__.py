"""Rules of the primitives of boxes."""
