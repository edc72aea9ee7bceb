"""Values sent to the processes beside the devices: here that is this process, and nothing is sent.

orbax names ``DeviceList`` in signatures.
"""

from dovetail_xla.client import DeviceList as DeviceList
