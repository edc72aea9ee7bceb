"""How operations on dense arrays are done on sparse ones, by family."""
