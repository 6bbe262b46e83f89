"""One colour a body, distinct ones side by side."""

import itertools

from cmbcontrol.scene.colors import BODIES, LOOP, body_colors


def test_neighbours_have_different_colors():
    names = [f"b{i}" for i in range(13)]
    ring = [*itertools.pairwise(names), (names[-1], names[0]), (names[0], names[6])]
    found = body_colors(names, [*ring, ("ground", "b0")])
    assert list(found) == names and set(found.values()) <= set(BODIES)
    assert all(found[a] != found[b] for a, b in ring)
    assert body_colors(names[:3], []) == dict(zip(names, BODIES[:3], strict=False))


def test_no_body_has_the_color_of_the_loops():
    assert LOOP not in BODIES and len(set(BODIES)) == len(BODIES)


def test_a_body_with_more_neighbours_than_colors_has_one_all_the_same():
    names = [f"b{i}" for i in range(8)]
    pairs = [(a, b) for a in names for b in names if a < b]
    assert set(body_colors(names, pairs)) == set(names)
