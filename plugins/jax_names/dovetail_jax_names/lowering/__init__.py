"""JAX's interface for lowering rules that are written with MLIR's Python bindings.

Rules of this kind are rules of the table ``backends.stablehlo``: what they build becomes text of
the module that is being written.
"""
