"""Spencer's five-bar through its singular configuration (thesis, section 3.2): where many tools leave the branch."""

from __future__ import annotations

import numpy as np

import cmbcontrol as cmb
from cmbcontrol import plants

SINGULAR = np.array([np.pi, -np.pi, 0.0, np.pi])  # all links flat


def second_start() -> np.ndarray:
    """Mirror-symmetric, links at 120 and 48.19 degrees."""
    a = np.arccos(1.0 / 1.5)
    return np.array([2.0 * np.pi / 3.0, a - 2.0 * np.pi / 3.0, np.pi / 3.0, 2.0 * np.pi / 3.0 - a])


def mirror_error(run: cmb.Simulation) -> float:
    """Both motions are mirror symmetric: left + right = pi, and the elbows are opposite."""
    q = run.q.values
    off = np.stack([q[:, 0] + q[:, 2] - np.pi, q[:, 1] + q[:, 3]])
    return float(np.abs((off + np.pi) % (2.0 * np.pi) - np.pi).max())


def main() -> dict[str, float]:
    """Both of Spencer's examples, 5 s with default settings."""
    plant, results = plants.five_bar(), {}
    for name, q0 in (("from the singular configuration", SINGULAR), ("second example", second_start())):
        run = cmb.simulate(plant, q0=q0, t_end=5.0)
        passages = ", ".join(f"{e['time']:.4f}" for e in run.events())
        results[f"{name} (passages at {passages} s): mirror error, rad"] = mirror_error(run)
        results[f"{name}: drift, m"] = run.max_drift
        results[f"{name}: energy error, J"] = run.max_energy_error
        results[f"{name}: evaluations"] = int(run.data.attrs["evaluations"])
    return results


if __name__ == "__main__":
    for name, value in main().items():
        print(f"{value:12.4g}   {name}")
