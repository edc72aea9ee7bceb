"""A transformation: its rule table and trace, its rules for the primitives of others, its law."""
