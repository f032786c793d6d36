"""A setting of deterministic programs; memory is never handed out uninitialized here."""

fill_uninitialized_memory = True
