"""Mistakes that a checker must find: one on each line that says so."""

# ruff: noqa: B018

import retrograd as torch
import retrograd.nn as nn
import retrograd.nn.functional as F

x = torch.ones(2, 3)

torch.sine(x)  # wrong: no such function
x.summ()  # wrong: no such method
x.grda  # wrong: no such attribute
nn.Linaer(2, 3)  # wrong: no such module
F.relu_(x, 1, 2)  # wrong: too many arguments
torch.sin()  # wrong: a missing argument
torch.sin("x")  # wrong: text is no tensor
torch.add(x, [1, 2])  # wrong: a list is no operand
x + "1"  # wrong: text is no operand
"1" - x  # wrong: nor on the left
x @ 2  # wrong: a number is no matrix
x["a"]  # wrong: text is no index
x.sum(dim="0")  # wrong: a dim is a number
x.sum(axes=0)  # wrong: an unknown keyword
torch.zeros("2")  # wrong: a size is a number
torch.zeros(2, dtype="float32")  # wrong: a dtype is no text
torch.cat(x, 0.5)  # wrong: a dim is an int
size: int = x.size()  # wrong: a size is several numbers
sizes: torch.Size = x.size(0)  # wrong: a length is one number
number: float = x.mean()  # wrong: a tensor is no float
x.max(0).sum()  # wrong: values and indices
torch.autograd.grad(x)  # wrong: with respect to what
x.grad.zero_()  # wrong: there may be no gradient
x.numpy().sine()  # wrong: no method of arrays
x.shape = (3, 2)  # wrong: shapes are not assigned
x.backward(graph=True)  # wrong: an unknown keyword
nn.Linear("2", 3)  # wrong: a width is a number
torch.manual_seed()  # wrong: a missing seed
torch.softmax(x)  # wrong: along which dim
torch.random()  # wrong: a module is not called
