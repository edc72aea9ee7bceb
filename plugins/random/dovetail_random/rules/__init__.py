"""Rules of the rows of this plugin in the columns of others, one package per column."""
