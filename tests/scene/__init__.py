"""Tests of `cmbcontrol.scene`."""
