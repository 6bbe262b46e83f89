"""Pages with all about a machine, a run, a linear model or a study: `cmbcontrol.report` makes them."""
