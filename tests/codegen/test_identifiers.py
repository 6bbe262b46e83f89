"""Names as identifiers of C, whatever they are."""

import re

from hypothesis import given
from hypothesis import strategies as st

from cmbcontrol.codegen.identifiers import distinct, identifier


def test_names():
    assert identifier("elbow left") == "elbow_left"
    assert identifier("3-RRR") == "n3_RRR"
    assert identifier("Nicht-Ö/ß") == "Nicht_O_sharp_s"
    assert identifier("φ1") == "phi_1"
    assert identifier("while") == "while_"
    assert identifier("p") == "p_"  # an argument of every function
    assert identifier("*/ #define \\") == "define"
    assert identifier("...") == "unnamed"


@given(st.lists(st.text(min_size=1), max_size=8))
def test_they_are_identifiers_and_differ_in_capitals_too(names):
    made = distinct(names)
    assert len({name.upper() for name in made}) == len(names)
    assert all(re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]*", name) for name in made)
