"""Rules of the primitives on arrays: a sub-package per rule table."""
