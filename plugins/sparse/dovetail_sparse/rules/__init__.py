"""Rules of primitives, by the table that they are for."""
