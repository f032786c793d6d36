"""Optimizers and learning rate schedules."""

from retrograd.optim import lr_scheduler
from retrograd.optim.adam import Adam, AdamW
from retrograd.optim.optimizer import Optimizer
from retrograd.optim.sgd import SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "lr_scheduler"]
