"""Modules for several devices and processes in a world of one, and the smaller namespaces of nn."""

from __future__ import annotations

import importlib
import pickle
import tempfile

from parity.harness import behaviour, behaviour_of_each

PATHS = {
    "nn.modules.utils": "_single _pair _triple _quadruple _ntuple _reverse_repeat_tuple",
    "nn.modules.conv": "_ConvNd Conv2d LazyConv2d", "nn.modules.batchnorm": "_BatchNorm _NormBase",
    "nn.modules.instancenorm": "_InstanceNorm", "nn.modules.loss": "_Loss _WeightedLoss MSELoss",
    "nn.modules.rnn": "RNNBase LSTM RNNCellBase", "nn.modules.module": "Module _IncompatibleKeys",
    "nn.modules.dropout": "_DropoutNd Dropout", "nn.modules.lazy": "LazyModuleMixin",
    "nn.modules.linear": "Linear Identity NonDynamicallyQuantizableLinear",
    "nn.modules.activation": "MultiheadAttention ReLU", "nn.modules.container": "Sequential",
    "nn.modules.normalization": "LayerNorm GroupNorm", "nn.modules.pooling": "MaxPool2d",
    "nn.modules.transformer": "TransformerEncoderLayer", "nn.modules.sparse": "Embedding",
    "nn.modules.flatten": "Flatten", "nn.modules.upsampling": "Upsample",
    "nn.modules.padding": "ZeroPad2d", "nn.modules.pixelshuffle": "PixelShuffle",
    "nn.modules.distance": "CosineSimilarity", "nn.modules.fold": "Fold",
    "nn.parameter": "Parameter Buffer UninitializedParameter is_lazy",
    "nn.utils.clip_grad": "clip_grad_norm_", "nn.utils.rnn": "pad_sequence PackedSequence",
    "nn.utils.weight_norm": "WeightNorm", "nn.utils.spectral_norm": "SpectralNorm",
    "nn.utils.convert_parameters": "parameters_to_vector", "nn.utils.fusion": "fuse_conv_bn_eval",
    "nn.parallel.distributed": "DistributedDataParallel", "nn.parallel": "DataParallel",
    "nn.common_types": "_size_1_t _size_2_t _size_3_t _size_any_t _ratio_2_t _maybe_indices_t",
    "nn.attention": "SDPBackend sdpa_kernel", "nn.grad": "conv2d_input conv2d_weight"}


@behaviour_of_each(list(PATHS))
def names_that_programs_import(torch, log, path):
    module = importlib.import_module(f"{torch.__name__}.{path}")
    log([name for name in PATHS[path].split() if hasattr(module, name)])


@behaviour
def data_parallel(torch, log):
    torch.manual_seed(0)
    model = torch.nn.DataParallel(torch.nn.Linear(2, 3))
    log(repr(model), list(model.state_dict()), model.device_ids, model(torch.ones(1, 2)),
        torch.nn.DataParallel is torch.nn.parallel.DataParallel)
    log.raises(torch.nn.parallel.data_parallel, torch.nn.ReLU(), torch.ones(1))
    log(type(pickle.loads(pickle.dumps(model)).module).__name__)


@behaviour
def distributed_data_parallel(torch, log):
    DDP = torch.nn.parallel.DistributedDataParallel
    log.raises(DDP, torch.nn.Linear(2, 3))
    dist = importlib.import_module(f"{torch.__name__}.distributed")
    with tempfile.NamedTemporaryFile() as meeting:
        dist.init_process_group("gloo", init_method=f"file://{meeting.name}x", rank=0, world_size=1)
        try:
            torch.manual_seed(0)
            model = DDP(torch.nn.Linear(2, 3), find_unused_parameters=True)
            log(repr(model), list(model.state_dict()), model.device_ids, model.training)
            model(torch.ones(1, 2)).sum().backward()
            with model.no_sync():
                log(model.require_backward_grad_sync)
                model(torch.ones(1, 2)).sum().backward()
            log(model.module.bias.grad, model.require_backward_grad_sync)
            with model.join():
                log.values(model(torch.ones(1, 2)).detach())
            log.raises(DDP, torch.nn.ReLU())
            log.raises(DDP, torch.nn.Linear(1, 1), device_ids=[0])
            log.raises(DDP, torch.nn.Linear(1, 1), device_ids=[0, 1])
        finally:
            dist.destroy_process_group()


@behaviour_of_each([1, 2, 3])
def gradients_of_convolutions(torch, log, dims):
    x = torch.linspace(-1, 1, 4 * 4**dims, dtype=torch.float64).reshape(1, 4, *(4,) * dims)
    w = torch.linspace(-1, 1, 4 * 2 * 2**dims, dtype=torch.float64).reshape(4, 2, *(2,) * dims)
    x.requires_grad_(), w.requires_grad_()
    conv = getattr(torch.nn.functional, f"conv{dims}d")
    options = {"stride": 2, "padding": 1, "groups": 2}
    g = torch.ones_like(conv(x, w, **options))
    gx = getattr(torch.nn.grad, f"conv{dims}d_input")(x.shape, w, g, **options)
    gw = getattr(torch.nn.grad, f"conv{dims}d_weight")(x, w.shape, g, **options)
    log.values(gx.detach(), gw.detach())
    (gx.square().sum() + gw.square().sum()).backward()
    log.values(x.grad, w.grad)


@behaviour
def implementations_of_attention(torch, log):
    attention = torch.nn.attention
    q = torch.linspace(-1, 1, 8).reshape(1, 4, 2)
    for backends in (attention.SDPBackend.MATH, [attention.SDPBackend.MATH]):
        with attention.sdpa_kernel(backends):
            log.values(torch.nn.functional.scaled_dot_product_attention(q, q, q))
    log.raises(lambda: attention.sdpa_kernel(3).__enter__())
    log([int(attention.SDPBackend.__members__[n]) for n in ("MATH", "FLASH_ATTENTION")])


@behaviour
def options_of_factories(torch, log):
    log(torch.nn.factory_kwargs(None), torch.nn.factory_kwargs({"device": "cpu"}),
        torch.nn.factory_kwargs({"dtype": 1, "factory_kwargs": {"device": 2}}))
    log.raises(torch.nn.factory_kwargs, {"other": 1})
    log.raises(torch.nn.factory_kwargs, {"device": 1, "factory_kwargs": {"device": 2}})
