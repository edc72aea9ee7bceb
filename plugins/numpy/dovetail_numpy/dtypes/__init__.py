"""Element types: scalar types, conversion, and functions about types."""
