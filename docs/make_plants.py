"""Write what ``cmbcontrol list`` shows, ``cmbcontrol/cli/plants.json``, from the plants of the catalogue."""

import json
from pathlib import Path

from cmbcontrol.cli.entries import plant_rows

if __name__ == "__main__":
    path = Path(__file__).parents[1] / "cmbcontrol" / "cli" / "plants.json"
    listed = {"format": "cmbcontrol plants 1", "plants": plant_rows()}
    path.write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
