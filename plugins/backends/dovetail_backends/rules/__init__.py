"""Rules of this plugin's primitive, ``device_put``, in the columns of others."""
