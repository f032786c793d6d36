"""The programs that are timed, by subject; importing a module declares its lines."""

from importlib import import_module

for _subject in ("training", "optimizers", "kernels", "large", "science", "writes", "small",
                 "layers", "matrices", "higher", "fourier", "special", "data", "transforms",
                 "others"):
    import_module("." + _subject, __name__)
