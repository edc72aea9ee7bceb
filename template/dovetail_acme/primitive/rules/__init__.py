"""The rules of this plugin's primitive, a module for each rule table."""
