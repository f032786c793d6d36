"""Shapes: views, joins and copies in another order."""
