"""``torch.profiler``: profiles of training loops, by a schedule, with traces for other programs."""

from ..autograd.profiler import kineto_available, record_function
from ..autograd.profiler_util import DeviceType, RecordScope
from ..base.missing_names import suggest_names as _suggest_names
from .profiler import (
    ProfilerAction,
    ProfilerActivity,
    _KinetoProfile,
    profile,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)

__all__ = ["DeviceType", "ProfilerAction", "ProfilerActivity", "RecordScope", "_KinetoProfile",
           "kineto_available", "profile", "record_function", "schedule", "supported_activities",
           "tensorboard_trace_handler"]

_suggest_names(__name__)
