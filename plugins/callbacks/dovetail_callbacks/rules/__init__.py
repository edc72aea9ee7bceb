"""Rules of the primitives that call Python, by rule table."""
