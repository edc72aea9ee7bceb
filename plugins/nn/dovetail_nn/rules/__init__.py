"""Rules of the primitives of this plugin for the tables of others, one module per table."""
