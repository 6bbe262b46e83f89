"""Names of a machine as identifiers of C."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["distinct", "identifier"]

# Of C99 and C++, and what math.h may define; a prefix of the machine keeps all other names apart.
_TAKEN = """
    asm auto bool break case catch char class const continue default delete do double else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new operator private protected public
    register restrict return short signed sizeof static struct switch template this throw true try typedef typename
    union unsigned using virtual void volatile while main NAN INFINITY p x y status
"""


def identifier(name: str) -> str:
    """A name with letters, digits and underscores only: accents are dropped, other signs become their names.

    Examples
    --------
    >>> identifier("Gelenk 1, östlich"), identifier("3-RRR"), identifier("double"), identifier("θ")
    ('Gelenk_1_ostlich', 'n3_RRR', 'double_', 'theta')
    """
    spelled = []
    for sign in unicodedata.normalize("NFKD", name):
        if unicodedata.combining(sign):
            continue
        if not sign.isascii() and sign.isalnum():
            sign = f"_{unicodedata.name(sign, f'u{ord(sign):x}').split(' LETTER ')[-1].lower()}_"
        spelled.append(sign)
    made = re.sub(r"[^0-9a-zA-Z]+", "_", "".join(spelled)).strip("_") or "unnamed"
    made = f"n{made}" if made[0].isdigit() else made
    return f"{made}_" if made in _TAKEN.split() else made


def distinct(names: Iterable[str]) -> list[str]:
    """Identifiers, all different, also in capitals: a number is added to one that is there already.

    Examples
    --------
    >>> distinct(["a b", "a-b", "A_b", "a_b_2"])
    ['a_b', 'a_b_2', 'A_b_3', 'a_b_2_2']
    """
    made: list[str] = []
    known: set[str] = set()
    for name in names:
        first = found = identifier(name)
        count = 1
        while found.upper() in known:
            count += 1
            found = f"{first}_{count}"
        known.add(found.upper())
        made.append(found)
    return made
