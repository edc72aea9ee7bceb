"""Rules of this plugin's primitives, by the plugin whose tables they are for."""
