"""How modules take converted parameters: see :mod:`retrograd.__future__`."""

_flags = {"overwrite": False, "swap": False}


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Let ``module.to()`` and its kind make new parameters instead of changing the old ones."""
    _flags["overwrite"] = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether converting a module makes new parameters."""
    return _flags["overwrite"]


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Let conversion and ``load_state_dict`` swap the contents of parameters with new ones."""
    _flags["swap"] = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether converting and loading swap the contents of parameters."""
    return _flags["swap"]
