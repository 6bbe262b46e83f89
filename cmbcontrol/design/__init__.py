"""Gains: from bandwidth, by matrix inequalities, by simulation."""
