"""A primitive: what it is, its rules for the rule tables of others, and samples to try it on."""
