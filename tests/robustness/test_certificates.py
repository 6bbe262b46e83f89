"""Random uncertain systems: no certificate has a counter-example; `certificates` looks at more of them."""

import pytest

from tests.seeds import rotating

from . import certificates


def require_good(seeds):
    answers = {seed: certificates.run_trial(seed) for seed in seeds}
    assert {seed: answer for seed, answer in answers.items() if answer[0] not in ("ok", "apart")} == {}
    apart = sum(answer[0] == "apart" for answer in answers.values())
    assert apart <= 0.1 * len(answers)  # branches bring the bounds together to 5 %, mostly


def test_certificates_have_no_counter_example():
    require_good(range(3))


@pytest.mark.slow
def test_a_hundred_certificates_have_no_counter_example():
    require_good(range(3, 103))


@pytest.mark.slow
@pytest.mark.rotates
def test_more_certificates():
    require_good(rotating(20))


def test_a_certificate_that_is_wrong_is_found(monkeypatch):
    """With bounds that are 0.8 of the true ones the search finds an unstable member."""
    from dataclasses import replace

    from cmbcontrol import linear

    right = linear.robust_stability

    def too_bold(*given, **options):
        found = right(*given, **options)
        return replace(found, upper=0.8 * found.upper, lower=0.8 * found.lower)

    monkeypatch.setattr(linear, "robust_stability", too_bold)
    assert [certificates.run_trial(seed)[0] for seed in range(3)].count("wrong") >= 2


def test_the_table_counts_outcomes(capsys):
    assert certificates.main(["--count", "1", "--jobs", "1"]) == 0
    assert "all" in capsys.readouterr().out
