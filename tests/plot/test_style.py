"""What all figures share: styles that can be told apart, panels, legends."""

import pytest
from matplotlib.figure import Figure

from cmbcontrol.plot import style


@pytest.mark.parametrize("n", [0, 1, 7, 21, 22, 60])
def test_curves_can_be_told_apart(n):
    assert len({(str(s["color"]), s["linestyle"]) for s in style.styles(n)}) == n


def test_panels_share_their_time_axis_or_are_those_given():
    figure, axes = style.panels(None, 3)
    axes[0].set_xlim(2.0, 5.0)
    assert axes[2].get_xlim() == (2.0, 5.0) and figure.get_figheight() == pytest.approx(3 * 1.75 + 0.55)
    assert style.panels(axes, 3) == (figure, axes)
    with pytest.raises(ValueError, match="has 2 panels; give as many axes, got 3"):
        style.panels(axes, 2)


@pytest.mark.parametrize(("curves", "entries"), [(0, None), (3, 3), (14, 14), (40, 14)])
def test_long_legends_count_the_rest(curves, entries):
    ax = Figure().subplots()
    for i in range(curves):
        ax.plot([0.0], [0.0], label=f"curve {i}")
    style.beside(ax)
    if entries is None:
        assert ax.get_legend() is None
        return
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert len(texts) == entries
    assert texts[-1] == (f"and {curves - 13} more" if curves > 14 else f"curve {curves - 1}")
