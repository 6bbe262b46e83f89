"""Records of excitations: frequencies that fit into them exactly."""

import numpy as np
import pytest

from cmbcontrol.errors import InputError
from cmbcontrol.studies.excitation import ShiftedReference, Tones, multisine_record, sine_record


def spectrum(record):
    """Amplitudes at all lines, of sines of amplitude one."""
    tones = Tones(record.omega, np.ones(record.lines.size), record.phases)
    values = tones.over(np.arange(record.points) * record.spacing)[:, 0]
    return np.abs(np.fft.rfft(values)) * 2.0 / record.points


@pytest.mark.parametrize("period", [None, 1e-3, 7e-3])
@pytest.mark.parametrize("omega", [0.3, 7.0, 123.4])
def test_a_sine_is_one_line(omega, period):
    record = sine_record(omega, period)
    assert record.omega[0] == pytest.approx(omega, rel=2e-3 if period else 1e-15)
    assert period is None or record.spacing == period
    size = spectrum(record)
    assert size[record.lines[0]] == pytest.approx(1.0, abs=1e-10)
    assert np.delete(size, record.lines[0]).max() < 1e-10  # of 0.3 rad/s there are 20,000 points


@pytest.mark.parametrize("phases", ["schroeder", "random", "chirp"])
@pytest.mark.parametrize("period", [None, 2e-3])
def test_a_multisine_has_odd_lines(phases, period):
    record = multisine_record(np.geomspace(2.0, 90.0, 12), period, phases, seed=3)
    assert (record.lines % 2 == 1).all() and record.lines[0] == 1
    size = spectrum(record)
    assert size[record.lines] == pytest.approx(np.ones(record.lines.size), abs=1e-11)
    assert np.delete(size, record.lines).max() < 1e-11


def test_phases_of_schroeder_and_of_a_sweep_keep_the_peak_small():
    """A sum of n sines in phase has the peak n, one with these phases less than 2 sqrt(n)."""
    for phases in ("schroeder", "chirp"):
        record = multisine_record(np.arange(1.0, 100.0, 2.0), None, phases, 0)
        tones = Tones(record.omega, np.ones(record.lines.size), record.phases)
        peak = np.abs(tones.over(np.linspace(0.0, record.length, 5000))).max()
        assert peak < 2.0 * np.sqrt(record.lines.size)


@pytest.mark.parametrize("make", [lambda w, T: sine_record(w[-1], T), lambda w, T: multisine_record(w, T, "random", 0)])
def test_frequencies_above_half_the_sampling_frequency(make):
    with pytest.raises(InputError, match=r"half the sampling frequency, 314\.159 rad/s"):
        make(np.array([10.0, 400.0]), 1e-2)


def test_a_reference_stands_but_for_one_signal():
    tones = Tones(np.array([3.0]), np.array([0.1]), np.array([0.2]))
    shifted = ShiftedReference(lambda t: (np.array([1.0, 2.0]), np.array([t, 0.0]), np.zeros(2)), 2, tones)
    position, velocity, acceleration = shifted(0.5)
    assert position.tolist() == [1.0, 2.0] and acceleration.tolist() == [0.0, 0.0]
    assert velocity == pytest.approx([0.1 * np.sin(1.7), 0.0])
    assert shifted.over(np.array([0.5]))[0] == pytest.approx(np.concatenate([position, velocity, acceleration]))
