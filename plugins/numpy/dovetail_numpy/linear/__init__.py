"""Linear algebra: ``dovetail.numpy.linalg`` and the traces of matrices."""
