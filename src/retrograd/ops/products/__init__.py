"""Products of vectors, matrices and batches of them."""
