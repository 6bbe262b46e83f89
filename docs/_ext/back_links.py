"""Pages of the source lead back to entries of the reference.

`sphinx.ext.viewcode` takes one address for all that a module holds; here a thing has the address at which users
import it, which may be another one for each.
"""

import re
from collections import defaultdict

_BACK = re.compile(
    r'(<a class="viewcode-back" href="(?:\.\./)*([\w/-]+)\.html#)([\w.]+)"'
)


def mend(app, page, template, context, doctree):
    """Give each link ``[docs]`` the address of its entry."""
    if not page.startswith("_modules/") or "body" not in context:
        return
    entries = defaultdict(list)
    for name, entry in app.env.domains["py"].objects.items():
        if not entry.aliased:
            entries[entry.docname].append(name)

    def address(match):
        before, there, name = match.groups()
        parts = name.split(".")
        for i in range(len(parts)):
            ending = "." + ".".join(parts[i:])
            found = [full for full in entries[there] if ("." + full).endswith(ending)]
            if found:  # the shortest one: `Motion` is no `JointMotion.Motion`
                return f'{before}{min(found, key=len)}"'
        return match[0]

    context["body"] = _BACK.sub(address, context["body"])


def setup(app):
    """Sphinx calls this."""
    app.connect("html-page-context", mend)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
