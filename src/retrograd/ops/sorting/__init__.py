"""Order: sorting, searching, distinct values."""
