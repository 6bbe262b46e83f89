"""Ticks that are read as they stand."""

from itertools import pairwise

import numpy as np
import pytest
from matplotlib.ticker import AutoLocator, MaxNLocator

from cmbcontrol.plot import style
from cmbcontrol.plot.figure import narrow, new_figure
from cmbcontrol.plot.ticks import PlainTicks, prefixed, tick_texts


def ranges(count, seed):
    """Ranges of axes: of any size, and at any distance from zero up to a million times their size."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        span = 10.0 ** rng.uniform(-9.0, 8.0)
        far = rng.choice([0.0, 1.0, 10.0 ** rng.uniform(0.0, 6.0)])
        low = far * span * rng.uniform(-1.0, 1.0)
        yield low, low + span


def assert_read(values, texts, factor=1.0):
    """Each text is its tick to a hundredth of a step, no two are the same."""
    read = factor * np.array([float(text.replace("\N{MINUS SIGN}", "-")) for text in texts])
    assert len(set(texts)) == len(texts)
    assert np.abs(read - values).max() <= 0.0101 * np.diff(values).min(), (values, texts)


def test_ten_thousand_ranges():
    locators = AutoLocator(), MaxNLocator(5), MaxNLocator(9, steps=[1, 2, 2.5, 5, 10])
    for k, (low, high) in enumerate(ranges(10_000, seed=3)):
        values = locators[k % 3].tick_values(low, high)
        _, factor = prefixed("N", max(abs(low), abs(high)))
        assert_read(values, PlainTicks(factor).format_ticks(values), factor)


def test_labels_of_drawn_axes():
    for low, high in ranges(40, seed=5):
        figure, (ax,) = style.panels(None, 1)
        style.dress(ax, "")
        ax.set_xlim(0.0, 1.0)
        ax.set_ylim(low, high)
        figure.draw_without_rendering()
        for axis in (ax.xaxis, ax.yaxis):
            assert axis.get_offset_text().get_text() == ""
            texts = [tick.label1.get_text() for tick in axis.get_major_ticks()]
            assert_read(axis.get_majorticklocs(), texts)


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([0.0, 0.25, 0.5], ["0.00", "0.25", "0.50"]),
        ([8.0239e-3, 8.024e-3], ["0.0080239", "0.0080240"]),
        ([0.0, 5e5, 1e6], ["0", "500000", "1000000"]),
        ([0.0, 1.5e8], ["0", "1.5e8"]),
        ([-2e-7, 0.0, 2e-7], ["-2e-7", "0", "2e-7"]),
        ([1e9 + 1.0, 1e9 + 2.0], ["1000000001", "1000000002"]),
        ([-1e-20, 0.1], ["0.0", "0.1"]),
        ([0.0], ["0"]),
        ([3.0], ["3"]),
        ([], []),
    ],
)
def test_texts(values, texts):
    assert tick_texts(values) == texts


@pytest.mark.parametrize(
    ("unit", "size", "told", "factor"),
    [
        ("N", 1.26e6, "MN", 1e6), ("N m", 2e4, "kN m", 1e3), ("N", 9999.0, "N", 1.0), ("m", 9e-3, "mm", 1e-3),
        ("m", 1e5, "m", 1.0), ("m/s", 2e-5, "µm/s", 1e-6), ("rad", 1e-9, "nrad", 1e-9), ("1", 1e-7, "1", 1.0),
        ("", 1e7, "", 1.0), ("J", 0.0, "J", 1.0), ("N", np.inf, "N", 1.0), ("m", 1e-30, "nm", 1e-9),
    ],
)  # fmt: skip
def test_prefixes(unit, size, told, factor):
    assert prefixed(unit, size) == (told, pytest.approx(factor))


@pytest.mark.parametrize("width", [1.5, 3.0, 7.0])
def test_labels_side_by_side_have_room(width):
    for low, high in ranges(60, seed=7):
        figure = new_figure(width, 1.5)
        ax = figure.add_subplot()
        style.dress(ax, "")
        ax.set_xlim(low, high)
        for _ in range(2):
            figure.draw_without_rendering()
        boxes = [tick.label1.get_window_extent() for tick in ax.xaxis._update_ticks()]
        assert boxes and all(a.x1 < b.x0 for a, b in pairwise(boxes)), (low, high)


@pytest.mark.parametrize("low", [1e-14, 3e-6, 2e-3, 0.7, 2e4])
@pytest.mark.parametrize("span", [3.0, 40.0, 1e9])
def test_logarithmic_axes_of_phones_have_no_raised_letters(low, span):
    """Raised letters are 0.7 of the others: 7.5 of 10.7 pixels, the resolution of pages being 96 a inch."""
    with narrow():
        figure, (ax,) = style.panels(None, 1)
        style.dress(ax, "", log=True)
        style.logarithmic(ax, "x")
    for axis, limit in ((ax.xaxis, ax.set_xlim), (ax.yaxis, ax.set_ylim)):
        limit(low, low * span)
        figure.draw_without_rendering()
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        places = [*axis.get_majorticklocs(), *axis.get_minorticklocs()]
        told = [(x, t.label1) for x, t in zip(places, ticks, strict=True) if t.label1.get_text()]
        for x, label in told:
            text = label.get_text()
            assert "$" not in text and label.get_fontsize() * 96.0 / 72.0 >= 9.0
            assert float(text.replace("\N{MINUS SIGN}", "-")) == pytest.approx(x, rel=1e-6)
        assert [x for x, _ in told if low <= x <= low * span]
