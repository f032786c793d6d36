"""Reductions, running reductions, norms and distances."""
