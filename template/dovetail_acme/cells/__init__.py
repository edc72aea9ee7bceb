"""The cells of this plugin's row, a module for each column."""
