"""Write what the command line knows at once, ``cmbcontrol/cli/listed.json``: plants, experiments, suffixes of files."""

import json
from pathlib import Path

from cmbcontrol.cli.entries import known

if __name__ == "__main__":
    path = Path(__file__).parents[1] / "cmbcontrol" / "cli" / "listed.json"
    path.write_text(json.dumps(known(), indent=1) + "\n", encoding="utf-8")
