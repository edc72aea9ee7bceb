"""Rules of this plugin's operations, a module per rule table."""
