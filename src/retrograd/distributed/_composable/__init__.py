"""Where programs find :func:`fully_shard` too."""
