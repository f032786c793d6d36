"""Memory: copies, casts, strides, overwriting."""
