"""The rules of this plugin's row, a module for each column."""
