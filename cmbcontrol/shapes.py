"""Shapes of bodies: boxes, rods, balls, plates and meshes, for the argument `shapes` of `Body`.

They are for display only: masses, contacts and collisions do not use them.

Examples
--------
>>> from cmbcontrol import Body, shapes
>>> Body.rod("crank", mass=1.2, length=0.3, shapes=[shapes.Rod((0, 0, 0), (0.3, 0, 0), radius=0.02)]).shapes[0].radius
0.02
"""

from .model.elements.bodies import Shape as Shape
from .model.elements.bodies import Triangles as Triangles
from .model.elements.shapes import Ball as Ball
from .model.elements.shapes import Box as Box
from .model.elements.shapes import Mesh as Mesh
from .model.elements.shapes import Plate as Plate
from .model.elements.shapes import Rod as Rod

__all__ = ["Ball", "Box", "Mesh", "Plate", "Rod", "Shape", "Triangles"]
