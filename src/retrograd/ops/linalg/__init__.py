"""Linear algebra.

======================  ==============================================================
:mod:`.common`          checks, and shapes that meet matrices
:mod:`.diagonals`       triangles and diagonals
:mod:`.solve`           inverses, linear systems, determinants
:mod:`.lu`              LU and LDL factors, and the systems they solve
:mod:`.reflections`     orthogonal matrices as products of reflections
:mod:`.factor`          Cholesky, QR, eigenvalues, singular values
:mod:`.least_squares`   pseudo-inverses, least squares, rank
:mod:`.functions`       exponential, powers, norms, condition
:mod:`.vectors`         products of vectors, powers of their elements
======================  ==============================================================
"""

from __future__ import annotations

from . import diagonals, factor, functions, least_squares, lu, reflections, solve, vectors

__all__ = ["diagonals", "factor", "functions", "least_squares", "lu", "reflections",
           "solve", "vectors"]
