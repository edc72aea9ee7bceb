"""High types: values that are made of arrays, and the lowering of programs that have some."""
