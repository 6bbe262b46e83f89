"""Matrices as text."""

import numpy as np

from cmbcontrol.cli.matrices import matrix_lines
from tests.fixtures import printed_matrix

# -- linearize -------------------------------------------------------------------------------------------


def test_large_models_are_not_printed(linearized):
    outputs = "platform_position,platform_velocity"
    out, lin = linearized("stewart", "--sampled", "0.01", "--delay", "0.001", "--outputs", outputs)
    head, tail = out.split("sampled every")
    assert "A 18 x 18, B 18 x 6, C 12 x 18, D 12 x 6: more than 12 states are not printed; --save" in tail
    np.testing.assert_allclose(printed_matrix(head, "C"), lin.C, rtol=5.1e-6, atol=1e-12)


# -- matrices as text --------------------------------------------------------------------------------------


def test_matrices_line_up():
    X = np.array([[0.0, 1.0, -1e-17], [-14.715, 1.5e-7, 123456.789]])
    assert matrix_lines("A", X, ["a", "long"], ["x", "y", "z"]) == [
        "A             x        y       z",
        "  a       0      1             0",
        "  long  -14.715  1.5e-07  123457",
    ]


def test_wide_matrices_are_broken_into_blocks():
    X = np.arange(1.0, 61.0).reshape(3, 20)
    names = [f"state{i}" for i in range(20)]
    lines = matrix_lines("A", X, ["a", "b", "c"], names, 60)
    assert max(map(len, lines)) <= 60
    assert [line.split()[0] for line in lines] == ["A", "a", "b", "c"] * (len(lines) // 4)
    np.testing.assert_array_equal(printed_matrix("\n".join(lines), "A"), X)
    assert len(matrix_lines("A", X, ["a", "b", "c"], names, 1)) == 4 * 20  # a column at least


def test_matrices_that_say_little():
    assert matrix_lines("D", np.zeros((2, 3)), "ab", "xyz") == ["D = 0, 2 x 3"]
    assert matrix_lines("B", np.zeros((4, 0)), "abcd", "") == ["B is empty, 4 x 0"]
    assert matrix_lines("C", np.ones((30, 2)), ["r"] * 30, "xy") == ["C is 30 x 2"]
