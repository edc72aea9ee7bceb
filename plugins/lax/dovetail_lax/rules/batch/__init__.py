"""Rules of ``batching.batch``: the primitives on arrays with a mapped axis."""
