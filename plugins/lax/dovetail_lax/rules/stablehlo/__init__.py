"""Rules of ``backends.stablehlo``: lowering of the primitives on arrays."""
