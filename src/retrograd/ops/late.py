"""Ops that are declared when something of their file is first asked for: most programs use few.

A file's functions are found by name in the top level, and its methods are on Tensor from the start:
they stand in for themselves until they are called.
"""

from __future__ import annotations

from importlib import import_module
from inspect import Signature
from typing import Any

from ..core.op import PUBLIC
from ..core.signatures import LateSignature
from ..core.tensor import Tensor, attach

_FILES = {
    # file: functions of the top level, and the methods among them
    "creation.mapped": ("from_file", ""),
    "creation.permuted": ("empty_permuted", ""),
    "creation.windows": ("hann_window hamming_window blackman_window bartlett_window kaiser_window",
                         ""),
    "fourier.short_time": ("stft istft", "stft istft"),
    "indexing.index_reduce": ("index_reduce", "index_reduce index_reduce_"),
    "indexing.positions": ("nonzero_static unravel_index", "nonzero_static"),
    "kernels_by_name": ("_chunk_cat _native_batch_norm_legit _safe_softmax _softmax_backward_data "
                        "_unsafe_masked_index _unsafe_masked_index_put_accumulate", ""),
    "linalg.extreme_pairs": ("lobpcg", ""),
    "linalg.low_rank": ("svd_lowrank pca_lowrank", ""),
    "losses.numbered": ("kl_div poisson_nll_loss cosine_embedding_loss hinge_embedding_loss "
                        "margin_ranking_loss triplet_margin_loss binary_cross_entropy_with_logits",
                        ""),
    "memory.elements": ("", "apply_ map_ map2_ const_data_ptr dim_order is_distributed resize "
                        "resize_as"),
    "nn.native": ("native_layer_norm native_group_norm native_batch_norm native_dropout "
                  "norm_except_dim frobenius_norm nuclear_norm instance_norm adaptive_max_pool1d "
                  "rnn_tanh_cell rnn_relu_cell gru_cell lstm_cell addmv_ as_strided_ "
                  "embedding_renorm_", ""),
    "products.scaled": ("_scaled_mm", ""),
    "reductions.hashing": ("hash_tensor", "hash_tensor"),
    "reductions.segments": ("segment_reduce", ""),
    "reductions.slopes": ("gradient", ""),
    "shapes.copies": ("alias_copy as_strided_copy detach_copy diagonal_copy expand_copy "
                      "narrow_copy permute_copy select_copy slice_copy split_copy "
                      "split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy "
                      "unfold_copy unsqueeze_copy view_copy view_as_complex_copy "
                      "view_as_real_copy", "narrow_copy"),
    "sorting.histograms": ("histogram histogramdd", "histogram"),
    "sparse.functions": ("sparse_coo_tensor sparse_csr_tensor sparse_csc_tensor "
                         "sparse_compressed_tensor spmm dsmm hsmm hspmm smm saddmm sspaddmm",
                         "to_sparse to_sparse_coo to_sparse_csr to_sparse_csc to_dense coalesce "
                         "sparse_mask smm sspaddmm sparse_dim dense_dim indices values "
                         "is_coalesced crow_indices col_indices ccol_indices row_indices"),
}
_NAMESPACES = ("fourier", "elementwise.polynomials", "products.grouped")
"""What public modules bring when they are imported."""

FUNCTIONS = {name: file for file, (names, _) in _FILES.items() for name in names.split()}
"""The file that declares each late function of the top level."""


def function(name: str) -> Any:
    """A late function of the top level."""
    import_module(f".{FUNCTIONS[name]}", __package__)
    return PUBLIC["torch"][name]


def load_all() -> None:
    """Declare everything, for whoever looks at all there is."""
    for file in (*_FILES, *_NAMESPACES):
        import_module(f".{file}", __package__)


def _stand_in(file: str, name: str) -> Any:
    def method(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        import_module(f".{file}", __package__)  # which puts the method itself in this one's place
        return getattr(self, name)(*args, **kwargs)

    method.__name__, method.__qualname__, method.__module__ = name, f"Tensor.{name}", "retrograd"
    method.__signature__ = LateSignature(_signature, file, name)  # type: ignore[attr-defined]
    return method


def _signature(file: str, name: str) -> Signature:
    """The signature of a method that is not declared yet; whoever looks at it declares it."""
    import_module(f".{file}", __package__)
    return Signature.from_callable(getattr(Tensor, name))


attach(**{name: _stand_in(file, name) for file, (_, names) in _FILES.items()
          for name in names.split()})
