"""Pictures of solids, against the definition of each pixel."""

import numpy as np
import pytest

from cmbcontrol.kernels.raster import average_pixels, fill_triangles


def filled(corners, shades=None, colors=None, shape=(40, 50)):
    corners = np.ascontiguousarray(corners, dtype=float).reshape(-1, 3, 3)
    shades = np.ones((len(corners), 3)) if shades is None else np.asarray(shades, dtype=float)
    colors = np.full((len(corners), 3), 255.0) if colors is None else np.asarray(colors, dtype=float)
    depth, image = np.full(shape, np.inf), np.zeros((*shape, 4), dtype=np.uint8)
    fill_triangles(corners, shades, colors, depth, image)
    return depth, image


def weights(corners, shape):
    """Of the three corners at each pixel's middle, from the linear equations that define them."""
    i, j = np.indices(shape)
    points = np.stack([j + 0.5, i + 0.5, np.ones(shape)], axis=-1)
    return points @ np.linalg.inv(np.column_stack([corners[:, :2], np.ones(3)]))


@pytest.mark.parametrize("seed", range(8))
def test_a_triangle_fills_the_pixels_whose_middles_it_contains(seed):
    rng = np.random.default_rng(seed)
    corners = rng.uniform((-10, -10, 1), (60, 50, 9), (3, 3))  # partly outside of the image
    (ax, ay), (bx, by) = corners[1, :2] - corners[0, :2], corners[2, :2] - corners[0, :2]
    if ax * by - ay * bx < 0.0:
        corners = corners[::-1]
    shades = rng.uniform(0.2, 1.0, 3)
    depth, image = filled(corners, shades[None], [[200.0, 100.0, 50.0]])
    w = weights(corners, depth.shape)
    inside = w.min(axis=2) >= 0.0
    edge = np.abs(w).min(axis=2) < 1e-9
    assert ((image[..., 3] == 255) == inside)[~edge].all() and inside.any()
    np.testing.assert_allclose(depth[inside & ~edge], (w @ corners[:, 2])[inside & ~edge], rtol=1e-12)
    expected = (w @ shades)[..., None] * [200.0, 100.0, 50.0]
    assert np.abs(image[..., :3] - expected)[inside & ~edge].max() <= 0.51


def test_the_nearest_is_seen_whatever_the_order():
    square = np.array([[5.0, 5.0], [35.0, 5.0], [20.0, 35.0]])
    near_left = np.column_stack([square, [1.0, 9.0, 5.0]])  # two that cross
    near_right = np.column_stack([square, [9.0, 1.0, 5.0]])
    colors = [[255.0, 0, 0], [0, 0, 255.0]]
    one = filled([near_left, near_right], colors=colors)[1]
    other = filled([near_right, near_left], colors=colors[::-1])[1]
    left, right = one[10, 10], one[10, 30]
    assert tuple(left) == (255, 0, 0, 255) and tuple(right) == (0, 0, 255, 255)
    np.testing.assert_array_equal(np.delete(one, 19, axis=1), np.delete(other, 19, axis=1))  # but where they cross


def test_what_looks_away_or_has_no_area_is_left_out():
    corners = np.array([[5.0, 5.0, 1.0], [35.0, 5.0, 1.0], [20.0, 35.0, 1.0]])
    assert filled(corners)[1].any()
    assert not filled(corners[::-1])[1].any()
    assert not filled(corners[[0, 0, 1]])[1].any()
    assert not filled(corners * np.nan)[1].any()
    assert not filled(corners + np.array([100.0, 0.0, 0.0]))[1].any()


def test_triangles_with_a_common_edge_leave_no_gap():
    rng = np.random.default_rng(3)
    middle = rng.uniform(15, 25, 2)
    ring = [(0.0, 0.0), (50.0, 0.0), (50.0, 40.0), (0.0, 40.0)]
    fan = [[(*ring[k], 1.0), (*ring[(k + 1) % 4], 1.0), (*middle, 1.0)] for k in range(4)]
    assert filled(fan)[1][..., 3].all()


def test_means_of_four_pixels():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (8, 12, 4)).astype(np.uint8)
    image[..., 3] = np.where(rng.uniform(size=(8, 12)) < 0.6, 255, 0)
    out = np.zeros((4, 6, 4), dtype=np.uint8)
    average_pixels(image, out)
    for i in range(4):
        for j in range(6):
            four = image[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].reshape(4, 4).astype(int)
            there = four[four[:, 3] > 0]
            assert out[i, j, 3] == 255 * len(there) // 4
            if len(there):
                np.testing.assert_array_equal(out[i, j, :3], there[:, :3].sum(axis=0) // len(there))
