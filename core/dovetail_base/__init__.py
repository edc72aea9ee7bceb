"""The base of all other packages: errors, source locations, options, lazy imports, caches."""
