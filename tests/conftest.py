"""What holds for the whole run of the suite."""


def pytest_collection_modifyitems(items):
    """Tests marked `last` look back on the whole run."""
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)
