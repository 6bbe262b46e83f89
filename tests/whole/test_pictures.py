"""The pictures of the documentation: each is shown and made by something, is small, and is made anew with its bytes."""

import ast
import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib.image
import numpy as np
import pytest
from matplotlib.figure import Figure

from cmbcontrol import papers, plants
from tests.fixtures import script

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"
LARGEST, ALL = 120_000, 3_450_000  # bytes: pages stay quick on a phone, a clone stays small

make_pictures = script(DOCS / "make_pictures.py")


def shown():
    """Paths of all pictures that pages and README show."""
    for page in (*DOCS.rglob("*.md"), ROOT / "README.md"):
        if "_build" not in page.parts:
            text = page.read_text(encoding="utf-8")
            for address in re.findall(
                r"(?:\]\(|\} |:file: )((?:docs/)?(?:\.\./)*pictures/[\w./-]+\.(?:png|svg))", text
            ):
                yield (page.parent / address).resolve()


def test_every_picture_is_shown_and_every_shown_one_is_there():
    """Those in folders are of other scripts (the viewer's), which may make more than pages show."""
    wanted = set(shown())
    assert sorted(str(path.relative_to(ROOT)) for path in wanted if not path.is_file()) == []
    assert sorted(path.name for path in PICTURES.glob("*.*g") if path.resolve() not in wanted) == []


def test_pictures_are_small():
    sizes = {path.name: path.stat().st_size for path in PICTURES.glob("*.*g")}
    assert {name: size for name, size in sizes.items() if size > LARGEST} == {}
    assert sum(sizes.values()) < ALL


def test_the_moving_picture_moves_and_can_stand_still():
    """Each body that moves has its keyframes, ends where it begins, and no shape or rule holds what is no number."""
    text = (PICTURES / "digging.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    drawn = {path.get("class") for path in root.iter("{http://www.w3.org/2000/svg}path")} - {None}
    frames = dict(re.findall(r"@keyframes (\w+)\{((?:[\d.]+%\{[^}]*\})+)\}", text))
    assert len(frames) == 11 and set(frames) <= drawn  # bodies of the excavator; the ground stands
    for steps in frames.values():
        found = re.findall(r"([\d.]+)%\{transform:translate\(([-\d.]+)px,([-\d.]+)px\) rotate\(([-\d.]+)rad\)\}", steps)
        numbers = np.array(found, dtype=float)
        assert len(numbers) == make_pictures.FRAMES + 1 and (np.diff(numbers[:, 0]) > 0.0).all()
        assert numbers[0, 0] == 0.0 and numbers[-1, 0] == 100.0
        assert np.abs(numbers[-1, 1:] - numbers[0, 1:]).max() < 0.02  # m, rad: a pixel
        assert np.ptp(numbers[:, 1:], axis=0).max() > 0.1
    assert "@media (prefers-reduced-motion:reduce){#digging path{animation:none!important}}" in text
    assert "nan" not in text and "inf," not in text


def test_every_plant_is_in_one_picture():
    shown = [name for names in make_pictures.CATALOGUE.values() for name in names]
    assert sorted(shown) == sorted(plants.catalogue)


def test_the_gallery_has_every_example():
    text = (DOCS / "gallery.md").read_text(encoding="utf-8")
    for name in make_pictures.examples():
        source = (ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8")
        sentence = ast.get_docstring(ast.parse(source)).split("\n\n")[0]
        assert text.count(f"(pictures/{name}-card.png)") == 2, name  # the card, and below the lines that make it
        assert text.count(f"(pictures/{name}.png)") == 1, name
        assert text.count(" ".join(sentence.split())) == 2, name
        assert text.count(f"{{literalinclude}} ../examples/{name}.py\n") == 1, name
        assert text.count(f'<a href="notebooks/{name}.ipynb" download>') == 1, name


def test_cells_of_the_gallery_are_short_and_run_by_themselves():
    """About ten lines each; `test_docs.py` runs them, each in an empty namespace."""
    parts = list(make_pictures.parts_of("gallery"))
    cells, drawn = parts[::2], [part["picture"] for part in parts[1::2]]
    assert drawn == [f"{name}-card" for name in make_pictures.examples()]
    for cell, name in zip(cells, drawn, strict=True):
        lines = [line for line in cell["block"].splitlines() if line and not line.startswith(("import ", "from "))]
        assert len(lines) <= 13, name
    assert "gallery" in make_pictures.APART


def test_pictures_of_experiments_have_their_experiment():
    pictures = [name for name in make_pictures.pictures_of("experiments") if "." in name]
    assert len(pictures) > 10
    assert {name.split(".")[0] for name in pictures} <= set(papers.EXPERIMENTS)


def page(tmp_path, monkeypatch, text):
    """The script, at work on a folder with one page."""
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    monkeypatch.setattr(make_pictures, "DOCS", tmp_path)
    monkeypatch.setattr(make_pictures, "PICTURES", tmp_path / "pictures")


PAGE = """# A page

```python
from matplotlib.figure import Figure

print(2 + 2)
figure = Figure(figsize=(1.0, 0.5))
figure
```

![A picture](pictures/page-figure.png)

```text
5
```

```python
raise ValueError("a block behind the last picture is not run")
```
"""


def test_a_page_gets_its_picture_and_its_output(tmp_path, monkeypatch):
    page(tmp_path, monkeypatch, PAGE)
    (made,) = make_pictures.make_page("page", outputs=False)
    assert matplotlib.image.imread(made).shape[:2] == (96, 192)
    assert (tmp_path / "page.md").read_text() == PAGE
    make_pictures.make_page("page", outputs=True)
    assert (tmp_path / "page.md").read_text() == PAGE.replace("\n5\n", "\n4\n")


def test_a_picture_without_a_figure_is_refused(tmp_path, monkeypatch):
    page(tmp_path, monkeypatch, PAGE.replace("\nfigure\n", "\n"))
    with pytest.raises(SystemExit, match="before page-figure does not end with a figure"):
        make_pictures.make_page("page", outputs=False)


def test_pictures_have_the_same_bytes_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(make_pictures, "PICTURES", tmp_path)
    files = []
    for _ in range(2):
        figure = Figure(figsize=(2.0, 1.0))
        figure.subplots().plot([0.0, 1.0], label="a line")
        files.append(make_pictures.save(figure, "twice").read_bytes())
    assert files[0] == files[1]
    assert b"matplotlib" not in files[0].lower() and b"Date" not in files[0]


def test_a_name_that_is_nothing_is_told():
    with pytest.raises(SystemExit, match="no page, example or experiment 'nonsense'"):
        make_pictures.main(["nonsense"])
