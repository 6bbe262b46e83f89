"""Arrays that kernels pass on together."""

import copy
import gc
import pickle
from typing import NamedTuple

import numpy as np
import pytest

from cmbcontrol import _bundle
from cmbcontrol._bundle import bundle
from cmbcontrol._jit import JIT_ENABLED, kernel

compiled = pytest.mark.skipif(not JIT_ENABLED, reason="nothing is compiled")


@bundle
class Inner(NamedTuple):
    """Two arrays."""

    x: np.ndarray
    count: np.ndarray


@bundle
class Outer(NamedTuple):
    """All kinds of fields."""

    yes: bool
    number: int
    share: float
    inner: Inner
    cube: np.ndarray
    links: np.ndarray
    no: bool
    flags: np.ndarray


LINK = np.dtype([("mass", float), ("place", float, 3), ("kind", np.int64)])


def made(rng, part=slice(None)):
    inner = Inner(rng.standard_normal(5), np.arange(3))
    links = np.zeros(2, LINK).view(np.recarray)
    links["mass"], links["kind"], links["place"] = [1.5, 2.5], [7, 8], rng.standard_normal((2, 3))
    return Outer(True, -3, 0.25, inner, rng.standard_normal((2, 3, 4))[:, part], links, False, np.array([True, False]))


@kernel
def everything(b, out):
    """What is in all fields, each with a weight of its own."""
    total = 1.0 * b.number + 10.0 * b.share
    if b.yes:
        total += 100.0
    if b.no:
        total += 1000.0
    for i in range(b.inner.x.shape[0]):
        total += (i + 1) * b.inner.x[i]
    for i in range(b.inner.count.shape[0]):
        total += b.inner.count[i] * 1e4
    for i in range(b.cube.shape[0]):
        for j in range(b.cube.shape[1]):
            for k in range(b.cube.shape[2]):
                total += (i + 2 * j + 3 * k) * b.cube[i, j, k]
    for i in range(b.links.shape[0]):
        total += b.links[i].mass * b.links[i].kind + b.links[i].place[2]
    for i in range(b.flags.shape[0]):
        if b.flags[i]:
            total += 0.125 * (i + 1)
    out[0] = total


@kernel
def write(b, value):
    """A field's entries, set and read again after it."""
    before = b.inner.x[1]
    for i in range(b.inner.x.shape[0]):
        b.inner.x[i] = value + b.inner.x[0] * 0.0
    return before + b.inner.x[1]


@kernel(allocates=True)
def new_inner(n):
    return Inner(np.full(n, 2.0), np.zeros(n, np.int64))


@kernel(allocates=True)
def new_outer(n, links):
    inner = new_inner(n)
    return Outer(True, n, 0.5, inner, np.zeros((1, n, 2)), links, False, np.ones(2, np.bool_))


@kernel(allocates=True)
def uses_its_own(n, links):
    total = 0.0
    for i in range(n):
        b = new_outer(i + 2, links)
        write(b, 1.0 * i)
        total += b.inner.x.sum() + b.number
    return total


@pytest.mark.parametrize("part", [slice(None), slice(None, None, 2)])
def test_all_kinds_of_fields(part):
    b, out = made(np.random.default_rng(3), part), np.zeros(1)
    everything(b, out)
    i, j, k = np.indices(b.cube.shape)
    expected = -3 + 2.5 + 100.0 + np.arange(1, 6) @ b.inner.x + 3e4 + ((i + 2 * j + 3 * k) * b.cube).sum()
    expected += b.links["mass"] @ b.links["kind"] + b.links["place"][:, 2].sum() + 0.125
    assert out[0] == pytest.approx(expected, rel=1e-14)


def test_arrays_are_shared():
    b = made(np.random.default_rng(4))
    before = b.inner.x[1]
    assert write(b, 3.0) == before + 3.0
    np.testing.assert_array_equal(b.inner.x, 3.0)


def test_it_is_a_named_tuple():
    b = made(np.random.default_rng(5))
    assert b._fields[0] == "yes" and b[1] == -3 and isinstance(b, tuple)
    assert Outer.__doc__ == "All kinds of fields." and Outer.__module__ == __name__
    other = b._replace(number=9)
    assert type(other) is Outer and other.number == 9 and other.cube is b.cube


@pytest.mark.parametrize("again", [copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))])
def test_copies_have_arrays_of_their_own(again):
    b = made(np.random.default_rng(6))
    write(b, 1.0)
    other = again(b)
    assert type(other) is Outer
    write(other, 2.0)
    assert b.inner.x[0] == 1.0 and other.inner.x[0] == 2.0


def test_made_by_a_kernel():
    links = np.zeros(2, LINK).view(np.recarray)
    b = new_outer(3, links)
    assert type(b) is Outer and type(b.inner) is Inner
    assert b.yes is True and b.number == 3 and b.no is False
    gc.collect()
    junk = [new_outer(3, links) for _ in range(50)]
    np.testing.assert_array_equal(b.inner.x, 2.0)
    write(b, 5.0)
    np.testing.assert_array_equal(b.inner.x, 5.0)
    assert all(other.inner.x[0] == 2.0 for other in junk)


def test_a_kernel_makes_and_uses_some():
    links = np.zeros(2, LINK).view(np.recarray)
    assert uses_its_own(4, links) == sum((i + 2) * i + i + 2 for i in range(4))


@compiled
def test_nothing_is_lost(request):
    from numba.core.runtime import _nrt_python, rtsys

    links = np.zeros(2, LINK).view(np.recarray)
    uses_its_own(2, links), new_outer(2, links)
    _nrt_python.memsys_enable_stats()
    request.addfinalizer(_nrt_python.memsys_disable_stats)
    before = rtsys.get_allocation_stats()
    for _ in range(20):
        uses_its_own(5, links)
        b = new_outer(5, links)
        write(b, 1.0)
    del b
    after = rtsys.get_allocation_stats()
    assert after.alloc - before.alloc == after.free - before.free
    assert after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free


@compiled
def test_a_field_that_is_not_there():
    from numba.core.errors import TypingError

    @kernel
    def wrong(b):
        return b.nothing

    with pytest.raises(TypingError, match="nothing"):
        wrong(made(np.random.default_rng(7)))


@compiled
def test_a_kernel_that_returns_one_says_so():
    @kernel
    def back(b):
        return b

    with pytest.raises(TypeError, match="allocates=True"):
        back(made(np.random.default_rng(8)))


@compiled
def test_read_only_arrays_cannot_be_written():
    from numba.core.errors import TypingError

    b = made(np.random.default_rng(9))
    b.inner.x.flags.writeable = False
    with pytest.raises(TypingError):
        write(Outer(*b), 1.0)


def test_addresses_are_those_that_numpy_tells():
    records = np.zeros(3, [("x", float), ("n", int)])
    for array in (np.arange(5.0), np.arange(12.0).reshape(3, 4)[1:, ::2], records, records["x"], np.zeros(0)):
        assert _bundle._address_of(array) == array.ctypes.data
