"""Rules of the primitives of this plugin: a module per table, or for the tables of one owner."""
