"""Anomaly mode: NaN in backward raises and names the forward line."""

import inspect
import math
import re
import warnings

import pytest

import retrograd as torch
from retrograd.autograd import detect_anomaly, set_detect_anomaly
from shared import custom, saving


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


def fail(ctx, g):
    raise ZeroDivisionError("on purpose")


Nan = custom(torch, lambda ctx, g: g * math.nan, name="Nan")
Fails = custom(torch, fail, name="Fails")


@pytest.fixture(autouse=True)
def always_off_afterwards():
    yield
    set_detect_anomaly(False)


def failing_backward(loss, error=RuntimeError):
    """The error and the warnings of a backward pass."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(error) as raised:
            loss.backward()
    return str(raised.value), caught


def test_nan_names_the_forward_line():
    with set_detect_anomaly(True):
        x = leaf(-1.0)
        y = x.sqrt()
        line = inspect.currentframe().f_lineno - 1
        message, caught = failing_backward(y.sum())
    where = f'File "{__file__}", line {line}, in test_nan_names_the_forward_line\n    y = x.sqrt()'
    assert message == ("Function 'SqrtBackward0' returned nan values in its 0th output.\n"
                       f"It was recorded here:\n  {where}")
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.startswith("Error detected in SqrtBackward0. Traceback of forward call that caused "
                           "the error:\n")
    assert text.endswith(where + "\n")
    assert caught[0].filename == __file__


def test_nan_inside_a_module_names_the_line_that_called_it():
    net = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.ReLU(), torch.nn.Flatten(0))
    with set_detect_anomaly(True):
        with torch.no_grad():
            net[0].weight.fill_(math.inf)
        y = net(torch.ones(1, 1, requires_grad=True))
        line = inspect.currentframe().f_lineno - 1
        message, _ = failing_backward((y * 0).sum())
    assert re.search(f'File "{re.escape(__file__)}", line {line}, in test_nan_inside', message)


def test_custom_functions_are_watched():
    with set_detect_anomaly(True):
        message, _ = failing_backward(Nan.apply(leaf(1.0)))
        assert message.startswith("Function 'NanBackward' returned nan values in its 0th output.")
        message, caught = failing_backward(Fails.apply(leaf(1.0)), ZeroDivisionError)
    assert message == "on purpose"
    assert "Error detected in FailsBackward. Traceback of forward call" in str(caught[0].message)


def test_the_position_of_the_nan():
    with set_detect_anomaly(True):
        message, _ = failing_backward(leaf(1.0) * leaf(math.nan))
        assert "in its 0th output" in message
        message, _ = failing_backward(leaf(math.nan) * leaf(1.0))
        assert "in its 1th output" in message


def test_a_graph_recorded_before_has_no_traceback_but_a_line():
    y = leaf(-1.0).sqrt()
    line = inspect.currentframe().f_lineno - 1
    with set_detect_anomaly(True):
        message, caught = failing_backward(y)
    assert f"line {line}" in message
    assert str(caught[0].message).startswith(
        "Error detected in SqrtBackward0. No forward pass information available.")


def test_what_a_second_derivative_was_induced_by():
    Induces = saving(torch, lambda x: x * 1, lambda g, x: g * (x - 1).sqrt(), name="Induces")
    with set_detect_anomaly(True):
        x = leaf(0.0)
        with set_detect_anomaly(True, check_nan=False):
            (g,) = torch.autograd.grad(Induces.apply(x), x, create_graph=True)
        _, caught = failing_backward(g)
    texts = [str(w.message) for w in caught]
    assert "Error detected in" in texts[0]
    assert "Previous calculation was induced by InducesBackward. Traceback of forward call that " \
           "induced the previous calculation" in texts[1]
    assert f'File "{__file__}", line' in texts[1]


def test_check_nan_can_be_off():
    x = leaf(-1.0)
    with set_detect_anomaly(True, check_nan=False):
        x.sqrt().backward()
    assert math.isnan(x.grad.item())


def test_infinity_is_no_anomaly():
    x = leaf(0.0)
    with set_detect_anomaly(True):
        x.sqrt().backward()
    assert math.isinf(x.grad.item())


def test_switches_nest():
    assert not torch.is_anomaly_enabled()
    with set_detect_anomaly(True):
        with set_detect_anomaly(False):
            assert not torch.is_anomaly_enabled()
        assert torch.is_anomaly_enabled()
        with set_detect_anomaly(True, check_nan=False):
            assert not torch.is_anomaly_check_nan_enabled()
        assert torch.is_anomaly_check_nan_enabled()
    assert not torch.is_anomaly_enabled()
    set_detect_anomaly(True)
    assert torch.is_anomaly_enabled()
    set_detect_anomaly(False)
    with pytest.raises(TypeError, match="must be bool"):
        set_detect_anomaly(1)


def test_detect_anomaly_warns_that_it_is_slow():
    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        context = detect_anomaly()
    with context:
        assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()


def test_the_in_place_error_points_to_the_traceback():
    with set_detect_anomaly(True):
        y = leaf(1.0).exp()
        y.add_(1)
        message, caught = failing_backward(y)
    assert "Hint: the backtrace further above shows the operation that failed" in message
    assert "Error detected in ExpBackward0" in str(caught[0].message)


def test_nothing_is_kept_when_the_mode_is_off():
    with set_detect_anomaly(True):
        watched = leaf(1.0) * 2
    plain = leaf(1.0) * 2
    assert "traceback_" in watched.grad_fn.metadata
    assert plain.grad_fn.metadata == {}


@pytest.mark.filterwarnings("ignore:Error detected")
def test_one_of_several_gradients_is_nan():
    x, exponent = torch.tensor([-1.0], requires_grad=True), torch.tensor([2.0], requires_grad=True)
    with torch.autograd.set_detect_anomaly(True), pytest.raises(
            RuntimeError, match="'PowBackward1' returned nan values in its 1th output"):
        (x ** exponent).sum().backward()
