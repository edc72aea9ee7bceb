"""Rules of the rows that call Python, by column."""
