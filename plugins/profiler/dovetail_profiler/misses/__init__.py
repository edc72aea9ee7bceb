"""Why something is traced or compiled again: what differs from what was there before."""
