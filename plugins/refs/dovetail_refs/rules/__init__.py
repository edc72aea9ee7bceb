"""Rules of the primitives of references."""
