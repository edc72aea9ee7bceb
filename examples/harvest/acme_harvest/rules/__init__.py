"""Rules of the primitive ``acme.sow``, a module for each owner of tables."""
