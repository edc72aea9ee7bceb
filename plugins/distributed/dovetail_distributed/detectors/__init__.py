"""How launchers tell processes their places."""
