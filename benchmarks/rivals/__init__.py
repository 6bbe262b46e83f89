"""Other tools on the benchmark machines, behind one interface.

Each of the modules `with_pinocchio`, `with_mujoco`, `with_exudyn` and `with_numpy` offers ``available()``,
``version()``, ``forward_dynamics(machine)``, ``simulate(machine, start, t_end, **accuracy)``,
``defaults(machine, start)``, ``ladder(machine, start)`` and the text ``SETTINGS``.  The machines are
``"five-bar"`` and ``("n-four-bar", N)``; `common` holds their data, starts and yardsticks.
``python -m benchmarks`` measures them beside this package.

The modules `linear_sympy`, `linear_pinocchio`, `linear_mujoco` and `linear_exudyn` offer ``poles(machine, q)``, by way
to linearize, for the machines of `planar`; ``python -m benchmarks.judges_linear`` compares them.
"""
