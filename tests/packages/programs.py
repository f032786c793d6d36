"""``python programs.py NAME``: prints what a program of a package computes, as JSON.

Each function is a program; it returns tensors and numbers. Run by ``retrograd run`` it is served
this package as torch, and otherwise PyTorch.
"""

from __future__ import annotations

import json
import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

PROGRAMS: dict[str, Callable[[], Any]] = {}


def program(function: Callable[[], Any]) -> Callable[[], Any]:
    PROGRAMS[function.__name__.rstrip("_")] = function
    return function


def net() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))


def data() -> tuple[torch.Tensor, torch.Tensor]:
    points = torch.randn(32, 4)
    return points, (points.sum(1) > 0).long()


def loader() -> Any:
    return DataLoader(TensorDataset(*data()), batch_size=8)


def trained(model: nn.Module, loss: torch.Tensor) -> list[Any]:
    """A loss, and how large the gradient of each parameter is."""
    loss.backward()
    return [loss, [float(p.grad.abs().sum()) for p in model.parameters() if p.grad is not None]]


# ---------------------------------------------------------------- shapes, solvers, optimizers


@program
def einops() -> Any:
    from einops import einsum, rearrange, reduce, repeat
    from einops.layers.torch import Rearrange

    x = torch.randn(2, 3, 8, 8, requires_grad=True)
    y = rearrange(x, "b c (h p) (w q) -> b (h w) (c p q)", p=4, q=4)
    z = reduce(y, "b n d -> b d", "max")
    z.sum().backward()
    return (z, x.grad, einsum(y, y, "b n d, b m d -> b n m"), repeat(z, "b d -> b k d", k=2),
            Rearrange("b c h w -> b (c h w)")(x))


@program
def torchdiffeq() -> Any:
    from torchdiffeq import odeint, odeint_adjoint

    class Field(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))

        def forward(self, t: Any, y: Any) -> Any:
            return self.net(y)

    field, start, times = Field(), torch.randn(4, 2, requires_grad=True), torch.linspace(0, 1, 5)
    found = []
    for method in ("dopri5", "rk4", "dopri8", "explicit_adams", "bosh3", "fehlberg2", "midpoint"):
        y = odeint(field, start, times, method=method)
        found += [y[-1], *torch.autograd.grad(y.sum(), start)]
    odeint_adjoint(field, start, times).square().sum().backward()
    return *found, start.grad, field.net[0].weight.grad


@program
def torchsde() -> Any:
    from torchsde import BrownianInterval, sdeint

    class Walk(nn.Module):
        noise_type, sde_type = "diagonal", "ito"

        def __init__(self) -> None:
            super().__init__()
            self.drift, self.noise = nn.Linear(3, 3), nn.Linear(3, 3)

        def f(self, t: Any, y: Any) -> Any:
            return self.drift(y)

        def g(self, t: Any, y: Any) -> Any:
            return self.noise(y).sigmoid()

    walk = Walk()
    y = sdeint(walk, torch.full((4, 3), 0.1), torch.linspace(0, 1, 5), method="euler",
               bm=BrownianInterval(0.0, 1.0, size=(4, 3), entropy=7))
    y.sum().backward()
    return y[-1], walk.drift.weight.grad


@program
def higher() -> Any:
    import higher

    model, x = nn.Linear(3, 1), torch.randn(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    with higher.innerloop_ctx(model, optimizer, copy_initial_weights=False) as (inner, steps):
        for _ in range(3):
            steps.step(inner(x).square().mean())
        inner(x).square().mean().backward()
    return model.weight.grad


@program
def entmax() -> Any:
    from entmax import entmax15, entmax_bisect, sparsemax

    x = torch.randn(3, 6, dtype=torch.float64, requires_grad=True)
    found = [entmax15(x, dim=-1), sparsemax(x, dim=-1), entmax_bisect(x, alpha=1.3)]
    sum(y.pow(3).sum() for y in found).backward()
    return *found, x.grad


@program
def geoopt() -> Any:
    from geoopt import ManifoldParameter, PoincareBall
    from geoopt.optim import RiemannianAdam

    ball = PoincareBall()
    point = ManifoldParameter(torch.randn(3, 2) * 0.1, manifold=ball)
    optimizer = RiemannianAdam([point], lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        ball.dist(point, torch.full((2,), 0.3)).sum().backward()
        optimizer.step()
    return point


@program
def geomloss() -> Any:
    from geomloss import SamplesLoss

    x = torch.rand(10, 2, requires_grad=True)
    loss = SamplesLoss("sinkhorn", p=2, blur=0.1, backend="tensorized")(x, torch.rand(8, 2))
    loss.backward()
    return loss, x.grad


# ---------------------------------------------------------------- probability


@program
def gpytorch() -> Any:
    import gpytorch

    class Process(gpytorch.models.ExactGP):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.mean = gpytorch.means.ConstantMean()
            self.covariance = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

        def forward(self, x: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean(x), self.covariance(x))

    x = torch.linspace(0, 1, 20)
    y = torch.sin(6 * x) + 0.1 * torch.randn(20)
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    process = Process(x, y, likelihood)
    likelihood_of = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, process)
    optimizer = torch.optim.Adam(process.parameters(), lr=0.1)
    losses = []
    for _ in range(6):
        optimizer.zero_grad()
        loss = -likelihood_of(process(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss)
    process.eval()
    likelihood.eval()
    with torch.no_grad(), gpytorch.settings.fast_pred_var():
        found = likelihood(process(torch.linspace(0, 1, 5)))
    return *losses, found.mean, found.variance


@program
def botorch() -> Any:
    from botorch.acquisition import LogExpectedImprovement
    from botorch.fit import fit_gpytorch_mll
    from botorch.models import SingleTaskGP
    from botorch.optim import optimize_acqf
    from gpytorch.mlls import ExactMarginalLogLikelihood

    x = torch.rand(8, 2, dtype=torch.float64)
    y = (x - 0.5).square().sum(-1, keepdim=True).neg()
    model = SingleTaskGP(x, y)
    fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    bounds = torch.tensor([[0.0, 0.0], [1.0, 1.0]], dtype=torch.float64)
    return optimize_acqf(LogExpectedImprovement(model, best_f=y.max()), bounds=bounds, q=1,
                         num_restarts=2, raw_samples=16)


@program
def pyro() -> Any:
    import pyro
    from pyro import distributions as dist
    from pyro.infer import MCMC, NUTS, SVI, Trace_ELBO
    from pyro.infer.autoguide import AutoNormal
    from pyro.optim import Adam

    x = torch.randn(30)
    y = 2 * x + 0.3 + 0.1 * torch.randn(30)

    def model(x: Any, y: Any) -> None:
        slope, offset = pyro.sample("w", dist.Normal(0.0, 1.0)), pyro.sample(
            "b", dist.Normal(0.0, 1.0))
        width = pyro.sample("s", dist.HalfNormal(1.0))
        with pyro.plate("points", len(x)):
            pyro.sample("y", dist.Normal(slope * x + offset, width), obs=y)

    steps = SVI(model, AutoNormal(model), Adam({"lr": 0.05}), Trace_ELBO())
    losses = [float(steps.step(x, y)) for _ in range(6)]
    chain = MCMC(NUTS(model), num_samples=4, warmup_steps=4, disable_progbar=True)
    chain.run(x, y)
    return losses, chain.get_samples()["w"]


@program
def nflows() -> Any:
    from nflows.distributions import StandardNormal
    from nflows.flows import Flow
    from nflows.transforms import (
        CompositeTransform,
        MaskedAffineAutoregressiveTransform,
        RandomPermutation,
    )

    flow = Flow(CompositeTransform([MaskedAffineAutoregressiveTransform(2, 8),
                                    RandomPermutation(2)]), StandardNormal([2]))
    return *trained(flow, -flow.log_prob(inputs=torch.randn(10, 2)).mean()), flow.sample(3)


@program
def zuko() -> Any:
    from zuko.flows import NSF

    flow = NSF(2, 1, transforms=2, hidden_features=[8])
    return trained(flow, -flow(torch.ones(1)).log_prob(torch.randn(5, 2)).mean())


# ---------------------------------------------------------------- training loops


@program
def lightning() -> Any:
    import lightning as L

    class Model(L.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net, self.example_input_array = net(), torch.ones(2, 4)

        def forward(self, x: Any) -> Any:
            return self.net(x)

        def training_step(self, batch: Any, number: int) -> Any:
            loss = F.cross_entropy(self.net(batch[0]), batch[1])
            self.log("loss", loss)
            return loss

        def validation_step(self, batch: Any, number: int) -> None:
            self.log("validated", F.cross_entropy(self.net(batch[0]), batch[1]))

        def configure_optimizers(self) -> Any:
            optimizer = torch.optim.Adam(self.parameters(), lr=0.01)
            return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]

    batches, model = loader(), Model()
    trainer = L.Trainer(max_epochs=2, accelerator="cpu", logger=False, enable_progress_bar=False,
                        enable_checkpointing=False, enable_model_summary=False,
                        gradient_clip_val=0.5)
    trainer.fit(model, batches, batches)
    return model.net[0].weight, trainer.callback_metrics["validated"]


@program
def accelerate() -> Any:
    from accelerate import Accelerator

    accelerator, model = Accelerator(cpu=True), net()
    model, optimizer, batches = accelerator.prepare(
        model, torch.optim.SGD(model.parameters(), lr=0.1), loader())
    for x, y in batches:
        with accelerator.accumulate(model):
            loss = F.cross_entropy(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    return loss, accelerator.gather(loss)


@program
def ignite() -> Any:
    from ignite.engine import create_supervised_evaluator, create_supervised_trainer
    from ignite.metrics import Accuracy, Loss

    model, batches = net(), loader()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    create_supervised_trainer(model, optimizer, nn.CrossEntropyLoss()).run(batches, 3)
    judge = create_supervised_evaluator(model, metrics={
        "right": Accuracy(), "loss": Loss(nn.CrossEntropyLoss())})
    judge.run(batches)
    return judge.state.metrics["right"], judge.state.metrics["loss"]


@program
def skorch() -> Any:
    from skorch import NeuralNetClassifier

    x, y = (part.numpy() for part in data())
    model = NeuralNetClassifier(net(), max_epochs=3, lr=0.1, verbose=0, train_split=None,
                                criterion=nn.CrossEntropyLoss)
    model.fit(x, y)
    return torch.tensor(model.predict_proba(x[:2]))


@program
def torchmetrics() -> Any:
    from torchmetrics import MeanSquaredError, MetricCollection, PearsonCorrCoef, R2Score
    from torchmetrics.functional import (
        accuracy,
        auroc,
        confusion_matrix,
        f1_score,
        structural_similarity_index_measure,
    )

    guessed, true = torch.randn(20, 5).softmax(-1), torch.randint(0, 5, (20,))
    kind: Any = {"task": "multiclass", "num_classes": 5}
    found = [score(guessed, true, **kind) for score in (accuracy, auroc, f1_score,
                                                        confusion_matrix)]
    metrics = MetricCollection([MeanSquaredError(), PearsonCorrCoef(), R2Score()])
    metrics.update(torch.randn(10), torch.randn(10))
    images = torch.rand(2, 1, 3, 16, 16)
    return *found, *metrics.compute().values(), structural_similarity_index_measure(*images)


# ---------------------------------------------------------------- derivatives and explanations


@program
def opacus() -> Any:
    from opacus import PrivacyEngine
    from opacus.grad_sample import GradSampleModule

    x, y = data()
    model = GradSampleModule(net())
    F.cross_entropy(model(x), y).backward()
    private, engine = net(), PrivacyEngine()
    private, optimizer, batches = engine.make_private(
        module=private, optimizer=torch.optim.SGD(private.parameters(), lr=0.1),
        data_loader=loader(), noise_multiplier=1.0, max_grad_norm=1.0, poisson_sampling=False)
    for x, y in batches:
        optimizer.zero_grad()
        F.cross_entropy(private(x), y).backward()
        optimizer.step()
    return [p.grad_sample for p in model.parameters()], engine.get_epsilon(1e-3)


@program
def backpack() -> Any:
    from backpack import backpack, extend
    from backpack.extensions import BatchGrad, DiagGGNExact, DiagHessian, Variance

    x, y = data()
    model = extend(net())
    loss = extend(nn.CrossEntropyLoss())(model(x), y)
    with backpack(BatchGrad(), Variance(), DiagGGNExact(), DiagHessian()):
        loss.backward()
    weight = next(model.parameters())
    return weight.grad_batch, weight.variance, weight.diag_ggn_exact, weight.diag_h


@program
def curvlinops() -> Any:
    from curvlinops import HessianLinearOperator

    model = net()
    hessian = HessianLinearOperator(model, nn.CrossEntropyLoss(), list(model.parameters()),
                                    [data()])
    return hessian @ torch.ones(hessian.shape[1])


@program
def captum() -> Any:
    from captum.attr import DeepLift, FeatureAblation, IntegratedGradients, Saliency

    model, x = net(), data()[0][:3]
    return [method(model).attribute(x.clone().requires_grad_(), target=1)
            for method in (IntegratedGradients, Saliency, DeepLift, FeatureAblation)]


# ---------------------------------------------------------------- networks


def language_models() -> dict[str, Callable[[], Any]]:
    import transformers as t

    small: Any = {"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2,
                  "num_attention_heads": 4, "intermediate_size": 64}
    return {
        "bert": lambda: t.BertForMaskedLM(t.BertConfig(
            **small, hidden_dropout_prob=0, attention_probs_dropout_prob=0)),
        "gpt2": lambda: t.GPT2LMHeadModel(t.GPT2Config(
            vocab_size=100, n_embd=32, n_layer=2, n_head=4, resid_pdrop=0, embd_pdrop=0,
            attn_pdrop=0)),
        "llama": lambda: t.LlamaForCausalLM(t.LlamaConfig(**small, num_key_value_heads=2)),
        "mixtral": lambda: t.MixtralForCausalLM(t.MixtralConfig(
            **small, num_key_value_heads=2, num_local_experts=4)),
        "mamba": lambda: t.MambaForCausalLM(t.MambaConfig(
            vocab_size=100, hidden_size=16, state_size=4, num_hidden_layers=2)),
        "t5": lambda: t.T5ForConditionalGeneration(t.T5Config(
            vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
            dropout_rate=0, decoder_start_token_id=0)),
    }


@program
def transformers() -> Any:
    words, found = torch.randint(3, 100, (2, 12)), []
    for name, make in language_models().items():
        torch.manual_seed(0)
        model = make()
        found += trained(model, model(input_ids=words, labels=words).loss)
        if name in ("gpt2", "llama", "t5"):
            model.eval()
            options: Any = {"max_new_tokens": 5, "pad_token_id": 0}
            found.append(model.generate(words[:, :4], do_sample=False, **options).tolist())
            torch.manual_seed(1)
            found.append(model.generate(words[:, :4], do_sample=True, top_k=10, **options).tolist())
    return found


@program
def transformers_of_images() -> Any:
    from transformers import ViTConfig, ViTForImageClassification

    model = ViTForImageClassification(ViTConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=37,
        image_size=16, patch_size=4, num_labels=3, hidden_dropout_prob=0,
        attention_probs_dropout_prob=0))
    return trained(model, model(torch.randn(2, 3, 16, 16), labels=torch.tensor([0, 2])).loss)


@program
def peft() -> Any:
    from peft import LoraConfig, get_peft_model

    model = get_peft_model(net(), LoraConfig(target_modules=["0", "2"], r=2, lora_alpha=4))
    x, y = data()
    return trained(model, F.cross_entropy(model(x), y))


@program
def diffusers() -> Any:
    from diffusers import DDPMScheduler, UNet2DModel

    model = UNet2DModel(
        sample_size=8, in_channels=3, out_channels=3, layers_per_block=1,
        block_out_channels=(8, 16), down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"), norm_num_groups=4)
    schedule = DDPMScheduler(num_train_timesteps=10)
    clean, noise, times = torch.randn(2, 3, 8, 8), torch.randn(2, 3, 8, 8), torch.tensor([3, 7])
    noisy = schedule.add_noise(clean, noise, times)
    return *trained(model, F.mse_loss(model(noisy, times).sample, noise)), schedule.step(
        model(clean, 3).sample, 3, clean).prev_sample


@program
def torch_geometric() -> Any:
    from torch_geometric.data import Batch, Data
    from torch_geometric.nn import (
        GATConv,
        GCNConv,
        GINConv,
        SAGEConv,
        TransformerConv,
        global_mean_pool,
    )

    edges = torch.tensor([[0, 1, 1, 2, 3, 0], [1, 0, 2, 1, 0, 3]])
    x, found = torch.randn(4, 3, requires_grad=True), []
    for layer in (GCNConv(3, 2), GATConv(3, 2, heads=2), SAGEConv(3, 2), GINConv(nn.Linear(3, 2)),
                  TransformerConv(3, 2)):
        y = layer(x, edges)
        found += [y, *torch.autograd.grad(y.square().sum(), x)]
    graphs = [Data(x=torch.full((n, 3), n * 1.0), edge_index=torch.tensor([[0], [1]]))
              for n in (2, 3)]
    batch = Batch.from_data_list(graphs)
    return *found, global_mean_pool(batch.x, batch.batch), batch.edge_index


@program
def kornia() -> Any:
    from kornia.color import rgb_to_hsv
    from kornia.filters import gaussian_blur2d
    from kornia.geometry.transform import rotate
    from kornia.losses import ssim_loss

    x = torch.rand(1, 3, 16, 16, requires_grad=True)
    blurred = gaussian_blur2d(x, (3, 3), (1.0, 1.0))
    ssim_loss(x, blurred.detach(), 5).backward()
    return blurred, rgb_to_hsv(x), rotate(x, torch.tensor([30.0])), x.grad


@program
def monai() -> Any:
    from monai.losses import DiceLoss
    from monai.networks.nets import UNet

    model = UNet(spatial_dims=2, in_channels=1, out_channels=2, channels=(4, 8, 16),
                 strides=(2, 2))
    return trained(model, DiceLoss(softmax=True, to_onehot_y=True)(
        model(torch.randn(1, 1, 16, 16)), torch.randint(0, 2, (1, 1, 16, 16))))


@program
def pytorch_metric_learning() -> Any:
    from pytorch_metric_learning import losses

    points, labels = torch.randn(16, 8, requires_grad=True), torch.randint(0, 4, (16,))
    found = []
    for loss in (losses.TripletMarginLoss(), losses.NTXentLoss(), losses.ContrastiveLoss(),
                 losses.MultiSimilarityLoss(), losses.ArcFaceLoss(4, 8), losses.SupConLoss()):
        value = loss(points, labels)
        found += [value, *torch.autograd.grad(value, points)]
    return found


@program
def x_transformers() -> Any:
    from x_transformers import Decoder, TransformerWrapper

    model = TransformerWrapper(num_tokens=32, max_seq_len=16, attn_layers=Decoder(
        dim=32, depth=2, heads=4, rotary_pos_emb=True, attn_flash=True))
    return trained(model, model(torch.randint(0, 32, (2, 16))).logsumexp(-1).mean())


@program
def vector_quantize_pytorch() -> Any:
    from vector_quantize_pytorch import FSQ, VectorQuantize

    x = torch.randn(1, 16, 8, requires_grad=True)
    codes, numbers, loss = VectorQuantize(dim=8, codebook_size=16)(x)
    (codes.sum() + loss.sum()).backward()
    return codes, numbers, loss, x.grad, FSQ([5, 5])(torch.randn(1, 4, 2))[0]


@program
def other_attentions() -> Any:
    from linformer import Linformer
    from local_attention import LocalAttention
    from performer_pytorch import Performer

    x, qkv = torch.randn(1, 8, 16), torch.randn(3, 1, 8, 8)
    return (Performer(dim=16, depth=1, heads=2, dim_head=8)(x),
            Linformer(dim=16, seq_len=8, depth=1, heads=2, k=4)(x),
            LocalAttention(dim=8, window_size=4, causal=True)(*qkv))


@program
def learned_updates() -> Any:
    import torchopt
    from functorch import make_functional

    model, x, scale = torch.nn.Linear(3, 1), torch.randn(8, 3), torch.ones((), requires_grad=True)
    inner = torchopt.MetaSGD(model, lr=0.1)
    inner.step(((model(x) * scale - x.sum(1, keepdim=True)) ** 2).mean())
    outer, = torch.autograd.grad(((model(x) - x.sum(1, keepdim=True)) ** 2).mean(), scale)
    function, params = make_functional(torch.nn.Linear(3, 1))
    rule = torchopt.adam(0.1)
    slopes = torch.autograd.grad(function(params, x).square().mean(), params)
    updates, _ = rule.update(slopes, rule.init(params), inplace=False)
    return outer, torchopt.apply_updates(params, updates, inplace=False)


# ---------------------------------------------------------------- running


def plain(value: Any) -> Any:
    """Tensors as lists, in whatever holds them."""
    if isinstance(value, torch.Tensor):
        return value.detach().tolist()
    return [plain(part) for part in value] if isinstance(value, (list, tuple)) else float(value)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    torch.manual_seed(0)
    result = plain(PROGRAMS[sys.argv[1]]())
    print(json.dumps(result))
