"""Rules of the primitive ``acme.check``, a module for each owner of tables."""
