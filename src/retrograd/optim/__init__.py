"""Optimizers and learning rate schedules."""

from ..base.missing_names import suggest_names as _suggest_names
from . import lr_scheduler
from .adam import Adam, AdamW
from .optimizer import Optimizer
from .sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]

_suggest_names(__name__)
