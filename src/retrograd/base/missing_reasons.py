"""Why names of PyTorch do not exist here, by patterns of names: for errors, and for docs/names.md.

The first pattern that a name matches gives its reason; a name without one is to come.
"""

from __future__ import annotations

import re
import sys

_COMPILED = "part of PyTorch's compiler of scripts and graphs; here Python runs the program"
_QUANTISED = "there are no quantised tensors"
_VENDOR = "a kernel of one vendor's library; the function without that prefix computes the same"
_STORAGE = "storages are untyped here; UntypedStorage and TypedStorage exist"
_SPARSE = "belongs to sparse layouts"
_DEVICES = "there is no device but the CPU"
_BITS = "NumPy has no dtype of so few bits"

_REASONS = {
    r"(cudnn|miopen|mkldnn|fbgemm)_\w+|to_mkldnn": _VENDOR,
    r"batch_norm_(backward_|gather_|stats|elemt|update)\w*":
        "a part of batch norm over several devices",
    r"quantize\w*|quantized\w*|dequantize|q_\w+|qscheme|q?u?q?int\d+\w*x\d+|qu?int\d+|int_repr|"
    r"empty_quantized|fake_quantize\w*|fused_moving\w*|choose_qparams\w*|per_(tensor|channel)_\w+|"
    r"ao|quantization": _QUANTISED,
    r"Q?U?(Int|Short|Long|Half|Float|Double|Bool|Byte|Char|BFloat16|Complex)\w*Storage|"
    r"QU?Int\w+Storage|Storage|StorageBase|storage_type": _STORAGE,
    r"u?int[1-7]|bits?\d*(x\d)?|float[48]_\w+": _BITS,
    r"sparse\w*|\w*_sparse\w*|c?c?r?ow?l?_indices\w*|\w*indices_copy|values_copy|indices|values|"
    r"coalesce|is_coalesced|dense_dim|is_sparse_csr|to_dense|"
    r"resize_as_sparse_": _SPARSE,
    r"jagged|nested|to_padded_tensor": "there are no tensors of rows of several lengths",
    r"StreamObjType|DeviceObjType|AcceleratorError|record_stream|ipu|mtia|xpu|"
    r"\w*_(ipu|xla)_\w+|profiler_allow\w+|scaled_grouped_mm": _DEVICES,
    r"eig|lstsq|matrix_rank|solve|symeig|reinforce|volatile": "PyTorch has removed it, and raises",
    r"gru|lstm|rnn_tanh|rnn_relu": "nn.GRU, nn.LSTM and nn.RNN compute it",
    r"native_norm": "PyTorch computes it for sparse tensors alone",
    r"index": "subscripts do that",
    r"Sym\w+|sym_\w+|Tag|DispatchKey\w*|ExcludeDispatchKeyGuard|PRIVATE_OPS|classes|cpp|"
    r"classproperty|thread_safe_generator|USE_\w+": "machinery of PyTorch's own dispatch",
    r"fork|wait|FutureType|monitor|package|export|functional|"
    r"torch_version": "a module of PyTorch that has no counterpart yet",
    r"init_num_threads|prepare_multiprocessing_environment|"
    r"set_autocast\w+|autocast_(in|de)crement_nesting": "set by a context manager here",
    r"windows|TYPE_CHECKING|torch": "there by accident of an import",
    r"AVG|SUM|AggregationType|\w*(Type|Logger|Script|Graph|Argument|Spec|Benchmark|Context|Info|"
    r"Table|Exception|Error|Plan)\w*|parse_\w+|import_ir\w*|merge_type\w*|unify_type\w*|AliasDb|"
    r"Block|CallStack|Capsule|Code|CompilationUnit|FatalError|FileCheck|FunctionSchema|Gradient|"
    r"IODescriptor|LiteScriptModule|Node|StaticModule|TracingState|Use|Value|PyTorchFile\w+|"
    r"BenchmarkConfig|DisableTorchFunction|BufferDict|ModuleDict|ParameterDict": _COMPILED}


def reason(name: str) -> str:
    """Why a name of PyTorch does not exist, or nothing if it is to come."""
    if name in sys.stdlib_module_names or name == "builtins":
        return "a module of Python's own"
    return next((why for pattern, why in _REASONS.items() if re.fullmatch(pattern, name)), "")
