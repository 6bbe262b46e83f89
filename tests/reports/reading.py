"""A page, read by Python's own parser of HTML."""

from html.parser import HTMLParser

SVG = "data:image/svg+xml;base64,"
VOID = {"meta", "link", "img", "br", "input", "source"}


class Read(HTMLParser):
    """Headings with the text, the tables and the pictures below them; fails on elements that are not closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.sections, self.links, self.ids = [], {}, [], []
        self._heading = self._title = None
        self.feed(text)
        self.close()
        assert not self.open, self.open

    @property
    def here(self):
        return (
            self.sections[self._title]
            if self._title is not None
            else {"text": "", "pictures": 0, "frames": 0, "rows": []}
        )

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.ids += [attrs["id"]] if "id" in attrs else []
        self.links += [attrs[k] for k in ("href", "src") if k in attrs]
        if tag == "h2":
            self._heading = ""
        elif tag == "img":
            assert attrs["src"].startswith(SVG) and attrs["alt"]
            self.here["pictures"] += 1
        elif tag == "source":
            assert attrs["srcset"].startswith(SVG) and attrs["media"].startswith("screen and")
        elif tag == "iframe":
            assert attrs["srcdoc"].startswith("<!doctype html>") and attrs["title"]
            self.here["frames"] += 1
        elif tag == "tr":
            self.here["rows"].append([])
        elif tag in ("td", "th"):
            self.here["rows"][-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        if tag == "h2":
            self._title, self._heading = self._heading, None
            self.sections[self._title] = {"text": "", "pictures": 0, "frames": 0, "rows": []}

    def handle_data(self, data):
        if self._heading is not None:
            self._heading += data
        elif self._title is not None:
            self.here["text"] += data
            if self.open and self.open[-1] in ("td", "th"):
                self.here["rows"][-1][-1] += data


def read(path):
    text = path.read_text(encoding="utf-8")
    page = Read(text)
    assert len(set(page.ids)) == len(page.ids)
    for link in page.links:  # nothing but itself
        assert link.startswith("data:") or (link[0] == "#" and link[1:] in page.ids), link
    return page
