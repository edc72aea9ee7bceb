"""Who handles an operation: primitives, traces, tracers, named axes, operators."""
