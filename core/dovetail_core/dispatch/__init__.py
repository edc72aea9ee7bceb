"""Dispatch of operations: primitives, traces, tracers, named axes, operators."""
