"""The layers, containers and losses: what each module says that it offers."""

# ruff: noqa: F403

from typing import TYPE_CHECKING

from .activation import *
from .adaptive import *
from .batchnorm import *
from .container import *
from .conv import *
from .distance import *
from .dropout import *
from .flatten import *
from .fold import *
from .instancenorm import *
from .linear import *
from .linear_cross_entropy import *
from .loss import *
from .module import Module as Module
from .normalization import *
from .padding import *
from .pixelshuffle import *
from .pooling import *
from .rnn import *
from .sparse import *
from .transformer import *
from .upsampling import *

if not TYPE_CHECKING:  # to a checker what is imported so is what is offered
    __all__ = sorted([name for name, value in vars().items() if isinstance(value, type)])
