"""What the equations say: accelerations, constraint forces, motor torques."""
