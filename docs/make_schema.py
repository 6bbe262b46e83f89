"""Write the schema of machine files, ``docs/machine.schema.json``, from the classes of the parts."""

import json
from pathlib import Path

from cmbcontrol.model.machine_schema import machine_schema

if __name__ == "__main__":
    path = Path(__file__).with_name("machine.schema.json")
    path.write_text(json.dumps(machine_schema(), indent=1) + "\n", encoding="utf-8")
