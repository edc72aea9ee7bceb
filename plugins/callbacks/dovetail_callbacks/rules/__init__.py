"""Rules of the primitives that call Python: a module per table, or for the tables of one owner."""
