"""cmbcontrol: control engineering for robots with closed loops and other constraints."""

import lazy_loader as _lazy

__version__ = "0.4.0"

# All names stand in `__init__.pyi`, for type checkers too. What a name needs is imported when it is used: to import all
# of it takes two seconds, and a command that shows its version needs none.
__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__, __file__)
