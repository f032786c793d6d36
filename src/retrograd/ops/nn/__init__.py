"""The functions that neural networks are made of."""
