"""What ops refuse, and in which words; apart from the mathematics."""
