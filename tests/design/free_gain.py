"""Static gains all of whose entries are free, and problems of COMPl_eib with them."""

import numpy as np

from cmbcontrol.design.structured import MinimaxProblem, Requirement

from ..linear.compleib import BEST, compleib


class FreeGain:
    """Structure of one gain, all of whose entries are free."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns

    @property
    def start(self):
        return np.zeros(self.rows * self.columns)

    def gains(self, theta):
        return [theta.reshape(self.rows, self.columns)]

    def derivatives(self, theta):
        return [np.eye(len(theta)).reshape(-1, self.rows, self.columns)]

    def drawn(self, rng):
        """Gains of like sizes, or each of its own size."""
        n = self.rows * self.columns
        sizes = rng.uniform(-1.0, 1.0) if rng.random() < 0.5 else rng.uniform(-1.0, 2.0, n)
        return rng.standard_normal(n) * 10.0**sizes


def of_compleib(name: str, order: int, measure: str) -> MinimaxProblem:
    """Controller of an order against a norm, or the growth of the poles, whose limit is the best that others found."""
    plant, best = compleib(name).with_order(order), BEST[name, order, measure]["value"]
    kind = "growth" if measure == "absc" else measure
    return MinimaxProblem([Requirement("", plant, kind, best)], FreeGain(plant.B2.shape[1], len(plant.C2)))
