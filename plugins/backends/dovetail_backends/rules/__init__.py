"""Rules of this plugin's primitives: placement for the tables of others, and lowering rules."""
