"""Compiled kernels: every numerical loop of the package, a chapter a file.

One convention holds in all of them: spatial vectors are ``[angular; linear]``, in world axes,
taken at the world origin. Then the relative twist of two bodies is a plain difference, the twist
of body b is ``V_b = sum S_k v_k`` over the joint screws on its path, and every derivative is a
cross product: ``dS_k/dt = V_b x S_k``, ``dS_k/dq_l = S_l x S_k``.

Kernels trust their input: shapes, types and finiteness are checked by the layers above.
"""
