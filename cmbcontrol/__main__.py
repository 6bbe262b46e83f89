"""``python -m cmbcontrol`` is the command ``cmbcontrol``."""

from .cli import main

main()
