"""The layers, containers and losses."""

from .activation import (
    ELU,
    GELU,
    LeakyReLU,
    LogSoftmax,
    ReLU,
    Sigmoid,
    SiLU,
    Softmax,
    Softplus,
    Tanh,
)
from .container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .conv import Conv2d
from .dropout import Dropout
from .flatten import Flatten, Unflatten
from .linear import Identity, Linear
from .loss import BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, L1Loss, MSELoss, NLLLoss
from .module import Module
from .normalization import LayerNorm
from .pooling import MaxPool2d
from .sparse import Embedding

__all__ = ["ELU", "GELU", "BCELoss", "BCEWithLogitsLoss", "Conv2d", "CrossEntropyLoss", "Dropout",
           "Embedding", "Flatten", "Identity", "L1Loss", "LayerNorm", "LeakyReLU", "Linear",
           "LogSoftmax", "MSELoss", "MaxPool2d", "Module", "ModuleDict", "ModuleList", "NLLLoss",
           "ParameterDict", "ParameterList", "ReLU", "Sequential", "SiLU", "Sigmoid", "Softmax",
           "Softplus", "Tanh", "Unflatten"]
