"""The array libraries retrograd can compute on; the only place that names one.

An op's kernel is written against a namespace called ``xp``. For NumPy that is
:mod:`retrograd.backend.numpy`; another array library joins by offering the same names.
"""
