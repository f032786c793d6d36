"""Modules and parameters: what they own, how they are called, saved and printed."""

import copy
import gc
import math
import pickle
import weakref

import pytest

import retrograd as torch
from retrograd import nn


def small_net():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))


# ---------------------------------------------------------------- parameters


def test_operations_on_parameters_return_plain_tensors():
    parameter = nn.Parameter(torch.ones(2))
    for result in (parameter * 2, parameter + parameter, parameter.detach(), parameter[0]):
        assert type(result) is torch.Tensor
    assert repr(parameter) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"


def test_a_parameter_shares_memory_and_version_with_its_data():
    data = torch.ones(2)
    parameter = nn.Parameter(data)
    data.mul_(3)
    assert parameter.tolist() == [3.0, 3.0]
    assert parameter._version == data._version == 1


def test_integer_parameters_need_requires_grad_false():
    with pytest.raises(RuntimeError, match="Only Tensors of floating point and complex dtype"):
        nn.Parameter(torch.tensor([1]))
    assert not nn.Parameter(torch.tensor([1]), requires_grad=False).requires_grad


def test_parameters_survive_copying_and_pickling():
    parameter = nn.Parameter(torch.ones(2))
    parameter.note = "kept"
    deep = copy.deepcopy(parameter)
    assert type(deep) is nn.Parameter and deep.data_ptr() != parameter.data_ptr()
    loaded = pickle.loads(pickle.dumps(parameter))
    assert type(loaded) is nn.Parameter and loaded.requires_grad and loaded.note == "kept"


# ---------------------------------------------------------------- attributes


def test_parameters_modules_and_buffers_are_registered_by_assignment():
    module = nn.Module()
    module.weight = nn.Parameter(torch.ones(1))
    module.child = nn.Linear(1, 1, bias=False)
    module.register_buffer("running", torch.zeros(1))
    module.plain = torch.ones(1)
    assert [name for name, _ in module.named_parameters()] == ["weight", "child.weight"]
    assert [name for name, _ in module.named_buffers()] == ["running"]
    assert list(module.state_dict()) == ["weight", "running", "child.weight"]


@pytest.mark.parametrize("value", [torch.ones(1), 3])
def test_a_registered_parameter_cannot_become_something_else(value):
    layer = nn.Linear(1, 1)
    with pytest.raises(TypeError, match=r"as parameter 'weight' \(torch.nn.Parameter or None"):
        layer.weight = value
    layer.weight = None
    assert layer.weight is None


def test_assignment_before_init_is_refused():
    class Eager(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter(torch.ones(1))

    with pytest.raises(AttributeError, match=r"cannot assign parameters before Module.__init__"):
        Eager()


def test_missing_attributes_name_the_module():
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'wieght'"):
        nn.Linear(1, 1).wieght  # noqa: B018


def test_a_property_that_fails_reports_its_own_error():
    class Broken(nn.Module):
        @property
        def size(self):
            return self.nothing_here

    with pytest.raises(AttributeError):
        Broken().size  # noqa: B018


def test_shared_parameters_are_listed_once():
    shared = nn.Linear(2, 2)
    model = nn.Sequential(shared, shared)
    assert len(list(model.parameters())) == 2
    assert len(list(model.named_parameters(remove_duplicate=False))) == 4
    assert list(model.state_dict()) == ["0.weight", "0.bias", "1.weight", "1.bias"]


# ---------------------------------------------------------------- calling


def test_hooks_change_arguments_and_output_until_removed():
    layer = nn.Identity()
    double = layer.register_forward_pre_hook(lambda module, args: args[0] * 2)
    layer.register_forward_hook(lambda module, args, output: output + 1)
    assert layer(torch.tensor(3.0)).item() == 7
    double.remove()
    assert layer(torch.tensor(3.0)).item() == 4


def test_a_hook_may_remove_itself_while_it_runs():
    layer = nn.Identity()
    calls = []
    handle = layer.register_forward_hook(lambda *args: (calls.append(1), handle.remove())[1])
    layer(torch.ones(1))
    layer(torch.ones(1))
    assert calls == [1]


def test_always_called_hooks_run_after_a_failure():
    seen = []
    layer = nn.Linear(2, 2)
    layer.register_forward_hook(lambda m, args, output: seen.append(output), always_call=True)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        layer(torch.ones(3, 3))
    assert seen == [None]


def test_full_backward_hooks_see_and_replace_gradients():
    layer = nn.Linear(2, 1, bias=False)
    seen = []

    def hook(module, grad_input, grad_output):
        seen.append((grad_input[0].clone(), grad_output[0].clone()))
        return (grad_input[0] * 10,)

    layer.register_full_backward_hook(hook)
    x = torch.ones(3, 2, requires_grad=True)
    layer(x).sum().backward()
    assert torch.equal(seen[0][0], layer.weight.detach().expand(3, 2))
    assert torch.equal(seen[0][1], torch.ones(3, 1))
    assert torch.equal(x.grad, layer.weight.detach().expand(3, 2) * 10)


def test_modules_die_with_their_last_reference():
    gc.disable()
    try:
        model = small_net()
        alive = weakref.ref(model[0])
        loss = model(torch.ones(4, 2)).sum()
        loss.backward()
        del model, loss
        assert alive() is None
    finally:
        gc.enable()


# ---------------------------------------------------------------- state


def test_state_dict_round_trip():
    source, target = small_net(), small_net()
    result = target.load_state_dict(source.state_dict())
    assert str(result) == "<All keys matched successfully>"
    assert all(torch.equal(a, b) for a, b in zip(source.parameters(), target.parameters()))


def test_load_state_dict_lists_everything_that_is_wrong():
    model = nn.Sequential(nn.Linear(1, 2))
    with pytest.raises(RuntimeError) as error:
        model.load_state_dict({"0.bias": torch.ones(3), "extra": torch.ones(1)})
    assert str(error.value) == (
        "Error(s) in loading state_dict for Sequential:\n"
        '\tMissing key(s) in state_dict: "0.weight". \n'
        '\tUnexpected key(s) in state_dict: "extra". \n'
        "\tsize mismatch for 0.bias: copying a param with shape torch.Size([3]) from checkpoint, "
        "the shape in current model is torch.Size([2])."
    )


def test_loading_keeps_the_parameters_an_optimizer_holds():
    model = small_net()
    weight = model[0].weight
    model.load_state_dict(small_net().state_dict())
    assert model[0].weight is weight
    model.double()
    assert model[0].weight is weight and weight.dtype == torch.float64


def test_conversion_converts_gradients_too():
    layer = nn.Linear(2, 1)
    layer(torch.ones(2)).sum().backward()
    layer.double()
    assert layer.weight.grad.dtype == torch.float64
    layer(torch.ones(2, dtype=torch.float64)).sum().backward()
    assert layer.weight.grad.tolist() == [[2.0, 2.0]]


def test_deep_copies_are_independent():
    model = small_net()
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin[0].weight.zero_()
    assert model[0].weight.abs().sum().item() > 0
    assert all(a is not b for a, b in zip(model.parameters(), twin.parameters()))


def test_modules_survive_pickling():
    model = small_net()
    loaded = pickle.loads(pickle.dumps(model))
    assert repr(loaded) == repr(model)
    x = torch.ones(5, 2)
    assert torch.equal(loaded(x), model(x))


# ---------------------------------------------------------------- layers


def test_the_same_seed_gives_the_same_weights():
    torch.manual_seed(0)
    layer = nn.Linear(2, 2)
    expected = [[-0.00529398, 0.37932289], [-0.58198076, -0.52038747]]
    assert torch.allclose(layer.weight, torch.tensor(expected))
    assert torch.allclose(layer.bias, torch.tensor([-0.27234524, 0.18961589]))


def test_dropout_scales_what_it_keeps_and_rests_in_evaluation():
    torch.manual_seed(0)
    layer = nn.Dropout(0.25)
    output = layer(torch.ones(1000))
    kept = output[output != 0]
    assert torch.allclose(kept, torch.full_like(kept, 1 / 0.75))
    assert 700 < len(kept) < 800
    assert torch.equal(layer.eval()(torch.ones(3)), torch.ones(3))


@pytest.mark.parametrize(
    "make, shape",
    [
        (lambda: nn.Linear(4, 3), (2, 4)),
        (lambda: nn.LayerNorm(4), (2, 4)),
        (lambda: nn.Conv2d(2, 3, 2, stride=2, padding=1), (2, 2, 3, 3)),
        (lambda: nn.Sequential(nn.Flatten(), nn.GELU()), (2, 2, 2)),
        (lambda: nn.Softmax(dim=-1), (2, 3)),
        (lambda: nn.MaxPool2d(2), (1, 1, 4, 4)),
    ],
)
def test_gradients_of_layers_agree_with_differences(make, shape):
    torch.manual_seed(0)
    layer = make().double()
    x = torch.rand(shape, dtype=torch.float64, requires_grad=True)
    direction = torch.rand(shape, dtype=torch.float64)

    def objective(at):
        output = layer(at)
        return (output * torch.arange(output.numel()).reshape(output.shape).cos()).sum()

    (grad,) = torch.autograd.grad(objective(x), x)
    step = 1e-6
    with torch.no_grad():
        ahead, behind = objective(x + step * direction), objective(x - step * direction)
    assert ((ahead - behind) / (2 * step)).item() == pytest.approx((grad * direction).sum().item())


def test_padding_rows_of_an_embedding_stay_zero_and_untrained():
    layer = nn.Embedding(4, 2, padding_idx=0)
    layer(torch.tensor([0, 1, 1])).sum().backward()
    assert layer.weight[0].tolist() == [0.0, 0.0]
    assert layer.weight.grad.tolist() == [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0], [0.0, 0.0]]


def test_module_lists_print_repeats_once():
    blocks = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1), nn.ReLU()])
    assert repr(blocks) == (
        "ModuleList(\n"
        "  (0-1): 2 x Linear(in_features=1, out_features=1, bias=True)\n"
        "  (2): ReLU()\n"
        ")"
    )


# ---------------------------------------------------------------- initial values and clipping


def test_kaiming_and_xavier_have_the_promised_spread():
    torch.manual_seed(0)
    weight = torch.empty(400, 300)
    nn.init.kaiming_normal_(weight, nonlinearity="relu")
    assert weight.std().item() == pytest.approx((2 / 300) ** 0.5, rel=0.02)
    nn.init.xavier_uniform_(weight)
    assert weight.abs().max().item() <= (6 / 700) ** 0.5
    assert weight.std().item() == pytest.approx((2 / 700) ** 0.5, rel=0.02)


def test_truncated_normal_stays_inside():
    torch.manual_seed(0)
    for low, high in ((-1.0, 0.5), (1.5, 3.0)):
        values = nn.init.trunc_normal_(torch.empty(500), 0.0, 1.0, low, high)
        assert low <= values.min().item() and values.max().item() <= high


def test_orthogonal_is_orthogonal():
    for shape in ((4, 6), (6, 4), (3, 2, 2)):
        weight = nn.init.orthogonal_(torch.empty(shape, dtype=torch.float64), gain=2.0)
        flat = weight.reshape(shape[0], -1)
        gram = flat @ flat.t() if flat.shape[0] <= flat.shape[1] else flat.t() @ flat
        assert torch.allclose(gram, 4 * torch.eye(len(gram), dtype=torch.float64))


def test_clipping_returns_the_norm_and_scales_to_it():
    parameter = nn.Parameter(torch.zeros(2))
    parameter.grad = torch.tensor([3.0, 4.0])
    assert nn.utils.clip_grad_norm_([parameter], 1.0).item() == pytest.approx(5.0)
    assert parameter.grad.norm().item() == pytest.approx(1.0, rel=1e-5)
    parameter.grad = torch.tensor([3.0, -4.0])
    nn.utils.clip_grad_value_([parameter], 3.5)
    assert parameter.grad.tolist() == [3.0, -3.5]


def test_parameters_go_into_a_vector_and_back():
    model = small_net()
    vector = nn.utils.parameters_to_vector(model.parameters())
    assert vector.shape == (13,)
    nn.utils.vector_to_parameters(vector * 0 + 2, model.parameters())
    assert all((parameter == 2).all() for parameter in model.parameters())


@pytest.mark.parametrize(("options", "rows"), [
    ({"chunking_method": None}, 10), ({"batch_chunk_size": 3}, 3), ({"batch_chunk_size": 30}, 10),
    ({"chunking_method": "aspect_ratio"}, 4), ({"chunking_method": "aspect_ratio:2"}, 2),
    ({"chunking_method": "aspect_ratio:9"}, 1), ({}, 2)], ids=str)
def test_so_many_rows_of_scores_are_held_at_once(options, rows):
    """As many as are asked for and there are, or that take no more memory than the input."""
    chosen = torch.nn.LinearCrossEntropyOptions(**options)
    assert chosen._chunk_of(10, 4, 12, torch.float32) == rows
    assert chosen._chunk_of(0, 4, 12, torch.float32) == 1


@pytest.mark.parametrize("padding", [None, 3])
def test_gradients_by_frequency_have_the_derivative_that_they_imply(padding):
    table = torch.zeros(4, 2, dtype=torch.float64, requires_grad=True)
    rows = torch.tensor([[1, 3, 1], [0, 1, 3]])
    g = torch.arange(12.0, dtype=torch.float64).reshape(2, 3, 2).requires_grad_()
    found = torch.nn.functional.embedding(rows, table, padding, scale_grad_by_freq=True)
    (grad,) = torch.autograd.grad(found, table, g, create_graph=True)
    assert grad[1].tolist() == g[rows == 1].mean(0).tolist() and grad[2].tolist() == [0, 0]
    other = torch.arange(8.0, dtype=torch.float64).reshape(4, 2).cos()
    (back,) = torch.autograd.grad(grad, g, other)
    assert torch.allclose((grad * other).sum(), (g * back).sum())  # it is linear
    assert torch.equal(back[rows == 1], (other[1] / 3).expand(3, 2))
    assert back[rows == 3].any() == (padding is None)


# ---------------------------------------------------------------- padding that is left out


AT_THE_END = [[False, False, True, True], [False] * 4, [False, True, True, True]]
ELSEWHERE = [[False, True, False, True], [False] * 4, [True, False, False, False]]


def encoder(frozen=True, **options):
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True, dtype=torch.float64)
    made = nn.TransformerEncoder(layer, 2, **options).eval()
    return made.requires_grad_(not frozen)


def padded(given):
    given = torch.tensor(given)
    return given, torch.zeros(given.shape, dtype=torch.float64).masked_fill(given, -math.inf)


@pytest.mark.parametrize("rows", [AT_THE_END, ELSEWHERE], ids=["at the end", "elsewhere"])
@pytest.mark.parametrize("normed", [False, True])
def test_what_is_padded_is_zero_and_the_rest_as_if_it_were_alone(rows, normed):
    norm = nn.LayerNorm(4, dtype=torch.float64) if normed else None
    if normed:
        nn.init.constant_(norm.bias, 3.0)
    module = encoder(norm=norm, mask_check=False)
    source = torch.randn(3, 4, 4, dtype=torch.float64)
    for mask in padded(rows):
        found = module(source, src_key_padding_mask=mask)
        for row, out, left_out in zip(source, found, torch.tensor(rows)):
            assert (out[left_out] == (3.0 if normed else 0.0)).all()
            torch.testing.assert_close(out[~left_out], module(row[~left_out][None])[0])


@pytest.mark.parametrize("said, left_out", [
    ({}, True), ({"rows": ELSEWHERE}, False), ({"rows": ELSEWHERE, "mask_check": False}, True),
    ({"rows": [[False] * 3 + [True]] * 3}, True),
    ({"rows": [[False, True, True, False]] * 3}, False),
    ({"enable_nested_tensor": False}, False), ({"training": True}, False),
    ({"masked": True}, False), ({"frozen": False}, False),
    ({"frozen": False, "no_grad": True}, True),
    ({"of_source": True}, False), ({"of_source": True, "no_grad": True}, True)], ids=str)
def test_when_padding_is_left_out(said, left_out):
    """Only where nobody asks for a gradient, and what is padded stands at the end."""
    given = {"rows": AT_THE_END, "training": False, "masked": False, "of_source": False,
             "no_grad": False} | said
    rows, training, masked, of_source, no_grad = (given.pop(name) for name in (
        "rows", "training", "masked", "of_source", "no_grad"))
    module = encoder(**given).train(training)
    source = torch.randn(3, 4, 4, dtype=torch.float64, requires_grad=of_source)
    for mask in padded(rows):
        attended = torch.zeros(4, 4, dtype=mask.dtype) if masked else None
        with torch.set_grad_enabled(not no_grad):
            found = module(source, mask=attended, src_key_padding_mask=mask)
        assert ((found == 0).all(-1) == (torch.tensor(rows) & left_out)).all()
