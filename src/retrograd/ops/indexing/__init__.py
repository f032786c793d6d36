"""Reading and writing by position, index and mask."""
