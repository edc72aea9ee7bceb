"""Rules of the primitives of this plugin for the tables of others, a module per table, or for the tables of one owner."""
