"""What everything rests on: dtypes, modes, call sites, errors, trees."""
