"""Rules of this plugin's primitive, ``device_put``, for the tables of others."""
