"""Functions that see the part of their arguments that is on one device of a mesh."""
