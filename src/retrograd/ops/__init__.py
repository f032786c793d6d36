"""The declared ops, by family; importing this package declares them all."""
