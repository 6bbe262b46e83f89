"""``python -m cmbcontrol.cli``."""

from . import main

main()
