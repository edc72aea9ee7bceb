"""The gamma and beta functions, complete and incomplete, and their inverses."""
