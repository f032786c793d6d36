"""What has no samples, what fails and what differs from PyTorch, each with its reason.

A reason that no longer holds has to be struck from here: the tests see to it.
"""

from __future__ import annotations

_NO_TENSOR = "makes a tensor, or answers about one, without being a function of its elements"
_MEMORY = "shares or leaves memory as it is: tests/test_creation.py and tests/test_tensor.py"
_WARNS = "deprecated: warns, and calls what has samples"

NO_SAMPLES: dict[str, str] = {
    **dict.fromkeys([
        "get_device", "broadcast_shapes", "tensor", "zeros", "ones", "full", "scalar_tensor",
        "arange", "range", "fft.fftfreq", "fft.rfftfreq", "linspace", "logspace", "eye", "rand",
        "randn", "randint", "randperm", "hann_window", "hamming_window", "blackman_window",
        "bartlett_window", "kaiser_window", "empty_permuted",
    ], _NO_TENSOR),
    **dict.fromkeys(["sparse_coo_tensor", "sparse_csr_tensor", "sparse_csc_tensor",
                     "sparse_compressed_tensor"], "tests/test_sparse.py"),
    **dict.fromkeys(["hspmm", "hsmm", "smm", "saddmm", "sspaddmm"],
                    "sparse matrices: tests/parity/test_sparse.py"),
    **dict.fromkeys(["_scaled_mm", "nn.functional.scaled_mm"],
                    "matrices of 8 bits: tests/parity/test_scaled_products.py"),
    **dict.fromkeys([
        "asarray", "from_numpy", "frombuffer", "from_dlpack", "to_dlpack", "empty", "empty_strided",
        "empty_like", "zero_", "resize_as_",
    ], _MEMORY),
    **dict.fromkeys(["frobenius_norm", "nuclear_norm", "chain_matmul", "cholesky", "qr", "lu",
                     "lu_solve", "triangular_solve", "nn.functional.upsample",
                     "nn.functional.upsample_nearest", "nn.functional.upsample_bilinear"], _WARNS),
    "affine_grid_generator": "what is behind the checks of affine_grid, which has samples",
    **dict.fromkeys(["svd_lowrank", "pca_lowrank"],
                    "their vectors have free signs: tests/parity/test_op_db.py"),
    "lobpcg": "its vectors have free signs: tests/parity/test_behaviours_ops.py",
    **dict.fromkeys(["_softmax_backward_data", "ops.aten._batch_norm_with_update"],
                    "a dtype, or tensors that it writes to: tests/parity/test_op_db.py"),
    "_chunk_cat": "PyTorch ends the process on numbers: tests/parity/test_op_db.py",
    "nn.functional.grouped_mm": "in single precision alone: tests/parity/test_behaviours_ops.py",
    "embedding_renorm_": _MEMORY, "from_file": _MEMORY,
    "linalg.eig": "its vectors have a free phase: tests/parity/test_op_db.py takes their moduli",
}
"""Public names without samples."""

_WIDE = ("float64", "float32")
_ALL = (*_WIDE, "complex128")


def _same(names: str, dtypes: tuple[str, ...], reason: str) -> dict[tuple[str, str], str]:
    return {(name, dtype): reason for name in names.split() for dtype in dtypes}


KNOWN: dict[tuple[str, str, str], str] = {}
"""Failures in tests/test_every_op.py by op, check and dtype."""

_VIEW_AND_COPY = "a view and a copy of it are recorded"

NODE_DIFFERENCES: dict[tuple[str, str], str] = {
    **_same("_sample_dirichlet", _WIDE, "it has a derivative; PyTorch's distribution brings one"),
    **_same("linalg.solve linalg.solve_ex linalg.solve_triangular linalg.lu_solve ormqr", _ALL,
            "left=False is solved by transposing, which is recorded"),
    **_same("linalg.qr", _ALL, "the right part of a wide matrix joins R by a recorded cat"),
    **_same("linalg.lstsq", _WIDE, "the residuals are not differentiable here"),
    **_same("linalg.matrix_norm", _WIDE, "keepdim ends in a view instead of a permutation"),
    **_same("linalg.tensorinv", _ALL,
            "PyTorch's inverse has its columns in a row, so reshaping it is no plain view"),
    **_same("nn.functional.conv1d nn.functional.conv2d conv2d nn.functional.conv_transpose1d "
            "nn.functional.conv_transpose2d", ("complex128",),
            "PyTorch splits a complex convolution into real ones"),
    **_same("nn.functional.cross_entropy nn.functional.linear_cross_entropy", _WIDE,
            "PyTorch divides by a number through an overload of its own (DivBackward1)"),
    **_same("nn.functional.pairwise_distance", _WIDE,
            "PyTorch's internal norm has a node of its own (NormBackward1)"),
    **_same("nn.functional.adaptive_avg_pool1d", _WIDE,
            "PyTorch unsqueezes, takes the mean and squeezes again"),
    **_same("alias_copy as_strided_copy diagonal_copy expand_copy narrow_copy permute_copy "
            "split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy "
            "unfold_copy unsqueeze_copy view_copy Tensor.narrow_copy", _ALL, _VIEW_AND_COPY),
    **_same("select_copy slice_copy view_as_real_copy", _WIDE, _VIEW_AND_COPY),
    **_same("index_reduce Tensor.index_reduce", _WIDE,
            "slices are reduced as elements are, by scatter_reduce"),
    **_same("native_group_norm", _WIDE, "its moments are computed beside it"),
    **_same("_native_batch_norm_legit _safe_softmax ops.aten.native_dropout_backward "
            "segment_reduce conv_tbc", _WIDE, "made of others, which are recorded"),
    **_same("_unsafe_masked_index _unsafe_masked_index_put_accumulate", _ALL,
            "made of others, which are recorded"),
    **_same("native_dropout", _WIDE, "a product with the mask is recorded"),
    **_same("norm_except_dim", _WIDE, "rows are turned to the front also where they are there"),
    **_same("stft", _WIDE, "one signal is transformed as it is, not as a batch of one"),
    **_same("einsum", _ALL, "the factors are contracted in another arrangement"),
}
"""Other names of nodes than PyTorch's, in tests/parity/test_every_op.py, by op and dtype."""

_EMPTY = "PyTorch refuses integers, but not where there are none"
_TIES = "among equal values another index is given; it points to the same value"
_EXACT = "the derivative is exact; PyTorch approximates it, to three digits or more"
_MORE = "it has a derivative; PyTorch's distribution brings its own"

DIFFERENCES: dict[tuple[str, str], str] = {
    **_same("_standard_gamma _standard_gamma_grad", ("float64",), _EXACT),
    ("histogram", "float16"): "PyTorch counts halves only where it is told their range",
    **_same("_dirichlet_grad", _WIDE, _EXACT),
    **_same("_sample_dirichlet", _WIDE, _MORE),
    **_same("softmax special.softmax nn.functional.softmax log_softmax special.log_softmax "
            "nn.functional.log_softmax nn.functional.softmin", ("int64",), _EMPTY),
    **_same("topk kthvalue", ("int64",), _TIES),
    **_same("embedding_bag", ("float32", "float16"),
            "PyTorch's quick sum does not say which bag an index lies in"),
    **_same("linalg.matrix_exp matrix_exp", ("float16",),
            "PyTorch's is inf and nan where the same matrix in float32 is finite"),
}
"""Differences from PyTorch in tests/parity/test_every_op.py by op and dtype."""


_WIPED = "PyTorch subtracts the mean from the argument itself, which a leaf refuses"
_WRONG_ROW = "PyTorch's gradient leaves out the row that an empty vector takes up"

_NO_SIGNALS = "PyTorch's library refuses to transform no signals; here they have no spectra"

DEGENERATE: dict[tuple[str, str], str] = {
    ("_standard_gamma", "ones"): _EXACT,
    **_same("_standard_gamma_grad", ("zero-dim", "ones"), _EXACT),
    **_same("_sample_dirichlet", ("zero-dim", "ones", "empty", "first empty"), _MORE),
    **_same("pixel_shuffle pixel_unshuffle", ("first empty",),
            "PyTorch's derivative of an empty result has the wrong shape"),
    **_same("nn.functional.multi_margin_loss nn.functional.multilabel_margin_loss",
            ("first empty",), "PyTorch's mean over nothing is whatever the memory held before"),
    ("channel_shuffle", "empty"): "PyTorch's derivative divides no channels into no groups, and "
                                  "refuses that",
    **_same("cov Tensor.cov", ("zero-dim", "ones"), _WIPED),
    **_same("block_diag", ("empty", "first empty"), _WRONG_ROW),
    ("linalg.matrix_norm", "ones"): "PyTorch's second derivative of a Frobenius norm is nan where "
                                    "the norm is zero, though its first is zero",
    **_same("fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft fft.fft2 fft.ifft2 fft.rfft2 "
            "fft.irfft2 fft.hfft2 fft.ihfft2 fft.fftn fft.ifftn", ("empty", "first empty"),
            _NO_SIGNALS),
    **_same("fft.rfftn fft.irfftn fft.hfftn fft.ihfftn", ("empty",), _NO_SIGNALS),
    **_same("view_as_complex view_as_complex_copy", ("first empty",),
            "PyTorch gives what it makes of an empty array strides of zero, and refuses those"),
    **_same("native_batch_norm _native_batch_norm_legit", ("zero-dim",),
            "PyTorch counts the dims of a number beyond its integers"),
    **_same("ops.aten.max_pool2d_with_indices_backward", ("zero-dim", "ones", "empty"),
            "the pool itself refuses such shapes; here its gradient need not"),
    ("conv_tbc", "empty"): "refused here, as conv1d refuses kernels of no length",
    ("ops.aten._upsample_bilinear2d_aa", "zero-dim"): "PyTorch words its own assertion",
    **_same("_unsafe_masked_index_put_accumulate", ("empty", "first empty"),
            "what is put nowhere has no gradient"),
    **_same("segment_reduce", ("empty", "first empty"),
            "PyTorch looks for the least length even where there is none"),
    ("histogramdd", "empty"): "rows of no numbers are in no bin",
    ("norm_except_dim", "empty"): "no rows of nothing are as many as the dim says",
}
"""Other results than PyTorch's in degenerate shapes, in tests/parity/test_degenerate.py, by op and
kind of shape."""

CRASHES: dict[tuple[str, str], str] = {
    **_same("native_batch_norm _native_batch_norm_legit", ("empty", "first empty"),
            "PyTorch's derivative of nothing ends the process"),
    ("pdist", "first empty"): "PyTorch's derivative of no rows ends the process",
}
"""What PyTorch cannot be asked, in tests/parity/test_degenerate.py, by op and kind of shape."""
