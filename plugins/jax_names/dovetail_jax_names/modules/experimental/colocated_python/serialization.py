"""What is sent to the processes beside the devices; that is this one here, and nothing is sent.

orbax names ``DeviceList`` in signatures.
"""

from dovetail_xla.client import DeviceList as DeviceList
