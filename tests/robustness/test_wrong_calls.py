"""No wrong call is accepted, and none fails from inside; see `wrong_calls`."""

import warnings

import numpy as np
import pytest

from . import valid_calls
from .wrong_calls import judge, wrong_calls

pytestmark = pytest.mark.nojit_slow


@pytest.fixture(scope="module")
def calls():
    import matplotlib

    matplotlib.use("Agg")
    yield valid_calls.calls()
    import matplotlib.pyplot as plt

    plt.close("all")


def refused(wrong):
    """What went wrong with a call that is not refused as it should be, else None."""
    outcome, said = judge(wrong)
    return (
        None if outcome == "refused" or valid_calls.is_exception(wrong) else f"{outcome}: {wrong.label}: {said[:200]}"
    )


def test_a_sample_of_wrong_calls_is_refused(calls):
    # one in twenty; plots, runs and tuning take too long here
    rng = np.random.default_rng(11)
    quick = [c for c in calls if not c.label.startswith(("plot", "tune", "robust", "certify", "simulate", "load"))]
    some = [wrong for wrong in wrong_calls(quick) if rng.random() < 0.05]
    assert len(some) > 300
    assert [found for wrong in some if (found := refused(wrong))] == []


def test_every_public_function_has_a_valid_call(calls):
    import cmbcontrol
    from cmbcontrol import controllers, design, linear, plants, plot

    called = {part for call in calls for part in call.label.split(",")[0].split(".")}
    missing = []
    for module in (cmbcontrol, controllers, design, linear, plants, plot):
        for name in module.__all__:
            thing = getattr(module, name)
            raised = isinstance(thing, type) and issubclass(thing, BaseException)
            if callable(thing) and name not in valid_calls.RESULTS and not raised:
                missing += [f"{module.__name__}.{name}"] if name not in called else []
    assert missing == [], "call(...) entries for these belong into tests/robustness/valid_calls.py"


@pytest.mark.slow
def test_there_are_enough_wrong_calls_and_all_are_refused(calls):
    import matplotlib.pyplot as plt

    every = list(wrong_calls(calls))
    assert len(every) >= 1500
    missed = []
    for wrong in every:
        found = refused(wrong)
        plt.close("all")
        missed += [found] if found else []
    assert not missed, "\n".join(missed)


@pytest.mark.slow
def test_every_valid_call_is_accepted(calls):
    import matplotlib.pyplot as plt

    for call in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            call.run()
        plt.close("all")


@pytest.mark.slow
def test_every_exception_is_needed(calls):
    import re

    accepted = [wrong for wrong in wrong_calls(calls) if valid_calls.is_exception(wrong)]
    assert [wrong.label for wrong in accepted if judge(wrong)[0] == "refused"] == []
    for label, argument, how, reason in valid_calls.EXCEPTIONS:
        assert reason
        assert any(
            re.fullmatch(label, w.call.label) and re.fullmatch(argument, w.argument) and re.fullmatch(how, w.how)
            for w in accepted
        ), label
