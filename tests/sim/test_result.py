"""The result of a run: names, units, files, python-control."""

import pytest

import cmbcontrol as cmb
from cmbcontrol import plants
from tests.fixtures import regular_start, spencers_second_start


@pytest.mark.nojit_slow
def test_events_survive_a_file(tmp_path):
    plant = plants.slider_crank()
    run = cmb.simulate(plant, q0=[1.2, -2.4], v0=[2.0, -4.0], t_end=0.5, branch={1: 0})
    again = cmb.load_run(run.save(tmp_path / "run.nc"))
    with pytest.raises(TypeError, match="does not hold its plant"):
        again.singularities()
    (here,), (there,) = run.singularities(), again.singularities(plant)
    assert (here.time, here.taken, here.kind) == (there.time, there.taken, there.kind)
    assert there.v == pytest.approx(here.v) and here.branches and not here.locked and here.lost_rows
    assert run.data["event_v_after"].values[0, 1] == pytest.approx(0.0, abs=1e-9)


class TestEvidence:
    def test_units_and_names(self):
        plant = plants.five_bar()
        run = cmb.simulate(plant, q0=regular_start(plant), t_end=0.1)
        assert all("units" in v.attrs for n, v in run.data.data_vars.items() if n != "event_kind")
        assert list(run.data["position"].values) == list(plant.position_names)
        assert run.time[0] == 0.0 and run.time[-1] == 0.1

    def test_save_and_load(self, tmp_path):
        plant = plants.five_bar()
        run = cmb.simulate(plant, q0=spencers_second_start(), t_end=1.0)
        again = cmb.load_run(run.save(tmp_path / "run.nc"))
        assert again.data.equals(run.data)
        assert again.status is cmb.Status.COMPLETED and again.events() == run.events()
        with pytest.raises(FileNotFoundError, match="no run at"):
            cmb.load_run(tmp_path / "other.nc")

    def test_to_control(self):
        plant = plants.five_bar()
        response = cmb.simulate(plant, [1.0, 0.0], regular_start(plant), t_end=0.1).to_control()
        assert "left" in response.output_labels and "left_rate" in response.output_labels
        assert response.inputs.shape == (2, 501)


def test_runs_are_kept_in_nc_files_only(tmp_path):
    plant = plants.five_bar()
    run = cmb.simulate(plant, None, plant.assemble(left=2.1, right=1.0), t_end=0.01)
    with pytest.raises(ValueError, match=r"a run is kept in a \.nc file .*, got 'run\.txt'"):
        run.save(tmp_path / "run.txt")
    assert not list(tmp_path.iterdir())
