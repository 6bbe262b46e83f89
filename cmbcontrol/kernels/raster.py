"""Pictures of solids: filling of triangles into an image, with the depth of each pixel."""

from __future__ import annotations

import numpy as np

from .._jit import kernel

__all__ = ["average_pixels", "fill_triangles"]


@kernel
def fill_triangles(corners, shades, colors, depth, image):
    """Fill triangles into an image where nothing nearer is drawn yet.

    Parameters
    ----------
    corners : ndarray, shape (n, 3, 3)
        Triangle, corner, (column, row, depth), in pixels; larger depths are farther. Those that go round
        counter-clockwise where rows are counted upwards are seen, the others are left out.
    shades : ndarray, shape (n, 3)
        Factors on the colour at the corners, from 0 to 1.
    colors : ndarray, shape (n, 3)
        Colours, from 0 to 255.
    depth : ndarray, shape (rows, columns)
        Depth of the surface in each pixel; changed.
    image : ndarray of uint8, shape (rows, columns, 4)
        Changed; what is filled becomes opaque.
    """
    rows, columns = depth.shape
    for t in range(corners.shape[0]):
        ax, ay, az = corners[t, 0]
        bx, by, bz = corners[t, 1]
        cx, cy, cz = corners[t, 2]
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if not area > 0.0:
            continue
        # weights of a and b at (x, y) are u = u0 + ux x + uy y and v likewise; that of c is the rest
        ux, uy = (by - cy) / area, (cx - bx) / area
        vx, vy = (cy - ay) / area, (ax - cx) / area
        low, high = max(int(min(ay, by, cy)), 0), min(int(max(ay, by, cy)) + 1, rows)
        for i in range(low, high):
            y = i + 0.5 - cy
            # the weights at column 0, and where in this row all three are not negative
            u, v = uy * y + ux * (0.5 - cx), vy * y + vx * (0.5 - cx)
            begin, end = 0.0, columns - 1.0
            for value, slope in ((u, ux), (v, vx), (1.0 - u - v, -ux - vx)):
                if slope > 0.0:
                    begin = max(begin, -value / slope)
                elif slope < 0.0:
                    end = min(end, -value / slope)
                elif value < 0.0:
                    end = -1.0
            if not begin <= end:
                continue
            for j in range(int(np.ceil(begin)), int(end) + 1):
                p, q = u + ux * j, v + vx * j
                r = 1.0 - p - q
                z = p * az + q * bz + r * cz
                if z < depth[i, j]:
                    depth[i, j] = z
                    shade = p * shades[t, 0] + q * shades[t, 1] + r * shades[t, 2]
                    for k in range(3):
                        image[i, j, k] = int(min(max(shade, 0.0), 1.0) * colors[t, k] + 0.5)
                    image[i, j, 3] = 255


@kernel
def average_pixels(image, out):
    """out (rows, columns, 4) = mean of 2 x 2 pixels of an image; its colour is that of the filled ones."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            count = 0
            r, g, b = 0, 0, 0
            for m in range(2):
                for n in range(2):
                    if image[2 * i + m, 2 * j + n, 3]:
                        count += 1
                        r += int(image[2 * i + m, 2 * j + n, 0])
                        g += int(image[2 * i + m, 2 * j + n, 1])
                        b += int(image[2 * i + m, 2 * j + n, 2])
            if count:
                out[i, j, 0], out[i, j, 1], out[i, j, 2] = r // count, g // count, b // count
            out[i, j, 3] = (255 * count) // 4
