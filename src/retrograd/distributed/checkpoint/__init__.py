"""Checkpoints that several processes write together; one process saves with :func:`torch.save`."""

from ...base.missing_names import suggest_names as _suggest_names

_suggest_names(__name__)
