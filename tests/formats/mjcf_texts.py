"""MJCF texts: of our own, one with each feature; and those that ship inside the wheel of MuJoCo."""

import ast
import re
from pathlib import Path

# Joints of all kinds, several a body with references, passive forces of all kinds, degrees, classes, replicas, frames.
TREE = """
<mujoco model="tree">
  <compiler angle="degree" eulerseq="zyx"/>
  <option gravity="0.3 -1.2 -9.5"/>
  <default>
    <joint damping="0.2" armature="0.01"/>
    <default class="stiff"><joint stiffness="30" springref="12"/></default>
    <default class="picture"><geom type="mesh" density="0"/></default>
  </default>
  <asset><mesh name="shell" file="../../../etc/passwd"/><texture name="t" file="http://x/y.png" type="2d"/></asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom type="plane" size="1 1 1"/>
    <site name="floor" pos="0.1 0 0" euler="10 20 30"/>
    <body name="post" pos="0.1 0.2 0.3" euler="10 0 20">
      <geom type="capsule" fromto="0 0 0 0 0 1" size="0.05"/>
      <body name="arm" pos="0 0 1" axisangle="1 2 3 40">
        <joint name="pan" axis="0 0 1" pos="0.1 0 0" ref="30" range="-100 120"/>
        <joint name="tilt" axis="1 1 0" pos="0 0.05 0.02" ref="-20" class="stiff" frictionloss="0.4"/>
        <joint name="reach" type="slide" axis="1 0 2" ref="0.15" range="-0.2 0.5" stiffness="40 -15 90"
          springref="0.05"/>
        <inertial pos="0.2 0.05 -0.1" mass="2.5" fullinertia="0.06 0.09 0.11 0.01 -0.02 0.015"/>
        <geom class="picture" mesh="shell"/>
        <body name="hand" pos="0.5 0 0" quat="0.9 0.1 -0.3 0.2" gravcomp="0.7">
          <joint name="slip" type="slide" axis="0 1 1" damping="0.3 0.2 0.1"/>
          <joint name="ball" type="ball" pos="0.05 0.02 0" damping="0.15" armature="0"/>
          <geom type="box" size="0.1 0.05 0.02" pos="0.1 0.02 0" euler="20 30 40" mass="0.8"/>
          <site name="tool" pos="0.2 0 0" euler="0 90 0"/>
        </body>
        <frame pos="0 0.2 0" euler="0 0 45">
          <body name="wheel"><joint name="spin" axis="0 1 0" damping="0.01"/><geom size="0.1"/></body>
        </frame>
      </body>
    </body>
    <replicate count="3" offset="0 0.5 0" sep="-">
      <body name="rod" pos="2 0 1"><joint name="swing" axis="1 0 0"/><geom size="0.05" pos="0 0 -0.3"/></body>
    </replicate>
    <body name="floating" pos="1 1 2" euler="50 60 70">
      <joint name="float" type="free" damping="0.4" armature="0"/>
      <inertial pos="0.05 0 0.1" quat="0.5 0.5 -0.1 0.7" mass="3" diaginertia="0.1 0.2 0.25"/>
      <body name="tail" pos="0.3 0 0"><joint name="wag" axis="0 0 1" armature="0.2"/>
        <geom size="0.08" pos="0.2 0 0"/></body>
    </body>
    <body name="pointer" mocap="true" pos="0 3 0"><geom size="0.1"/></body>
  </worldbody>
  <tendon>
    <spatial name="band" stiffness="25" damping="0.7" springlength="0.4">
      <site site="floor"/><site site="tool"/></spatial>
    <fixed name="sum"><joint joint="pan" coef="2"/><joint joint="spin" coef="-0.5"/></fixed>
  </tendon>
  <actuator>
    <motor name="pan" joint="pan" gear="3" ctrlrange="-5 5" armature="0.02" damping="0.1"/>
    <position name="tilt_servo" joint="tilt" kp="80" kv="3" gear="2" forcerange="-50 50" ctrlrange="-1 1"/>
    <velocity joint="spin" kv="0.6"/>
    <general name="push" joint="reach" gainprm="4" gear="0.5" ctrlrange="-1 2" forcerange="-3 3"/>
    <motor name="both" tendon="sum"/>
    <motor name="turn" site="tool" refsite="floor" gear="0 0 0 1 0 2"/>
    <motor name="thrust" site="tool" gear="0 0 1 0 0 0"/>
  </actuator>
  <sensor><jointpos joint="pan"/></sensor>
  <contact><exclude body1="arm" body2="hand"/></contact>
  <keyframe>
    <key name="home" qpos="0.1 -0.2 0.3 0.05 0.8 0.6 0 0 0.4 0.1 0.2 0.3 1 2 3 0 1 0 0 0.7"/>
    <key qvel="1"/>
  </keyframe>
</mujoco>
"""

# Equalities of all kinds, on a machine that closes at its reference.
LOOPS = """
<mujoco model="loops">
  <compiler angle="radian"/>
  <worldbody>
    <site name="pin_site" pos="1.2 0 0.1"/>
    <body name="a1" pos="0 0 0">
      <joint name="a1" axis="0 0 1" ref="0.4"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.03"/>
      <body name="a2" pos="0.5 0 0" euler="0 0 0.6">
        <joint name="a2" axis="0 0 1" ref="-0.2" armature="0.05"/>
        <geom type="capsule" fromto="0 0 0 0.6 0 0.02" size="0.03"/>
        <body name="a3" pos="0.6 0 0" euler="0.2 0 -1.3">
          <joint name="a3" type="ball" pos="0.01 0 0"/>
          <geom type="box" size="0.3 0.05 0.02" pos="0.3 0.02 0.01"/>
          <site name="tip" pos="0.4 0.02 0" euler="0.1 0.2 0.3"/>
        </body>
      </body>
    </body>
    <body name="b1" pos="1.0 0 0">
      <joint name="b1" axis="0 0.2 1"/>
      <geom type="capsule" fromto="0 0 0 0.4 0.2 0" size="0.03"/>
      <site name="b_site" pos="0.4 0.2 0"/>
      <body name="b2" pos="0.4 0.2 0">
        <joint name="b2" axis="0 0 1" ref="0.3"/><joint name="b2x" axis="0 1 0"/><joint name="b2y" axis="1 0 0"/>
        <geom type="capsule" fromto="0 0 0 0.1 0.5 0" size="0.03"/>
      </body>
    </body>
    <body name="plate" pos="0.8 0.8 0.2"><freejoint name="plate"/><geom type="box" size="0.2 0.1 0.02" pos="0.01 0 0"/>
      <site name="plate_site" pos="0.1 0.05 0" euler="1 0 0.5"/></body>
    <body name="cart" pos="0 2 0"><joint name="x" type="slide" axis="1 0 0" ref="0.2"/><geom size="0.1"/>
      <body name="cam"><joint name="turn" axis="0 1 0" ref="0.5"/><geom size="0.1" pos="0.1 0 0"/></body>
      <body name="gear1"><joint name="g1" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body>
      <body name="gear2"><joint name="g2" axis="0 1 0" ref="0.1"/><geom size="0.1" pos="0.1 0 0"/></body>
      <body name="gear3"><joint name="g3" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body>
      <body name="held"><joint name="h1" axis="0 1 0"/><geom size="0.1" pos="0.1 0 0"/></body>
    </body>
  </worldbody>
  <tendon>
    <fixed name="sum"><joint joint="g1" coef="2"/><joint joint="g2" coef="-1"/><joint joint="g3" coef="0.5"/></fixed>
    <fixed name="one"><joint joint="x" coef="3"/></fixed>
    <spatial name="rope"><site site="pin_site"/><site site="plate_site"/></spatial>
  </tendon>
  <equality>
    <connect name="pin" body1="b2" body2="a3" anchor="0.05 0.3 0"/>
    <connect name="again" body1="a3" body2="b2" anchor="0.2 0.1 0"/>
    <connect body1="b2" body2="a3" anchor="0.05 0.3 0"/>
    <weld name="grip" body1="plate" body2="b2" anchor="0.02 0.01 0"/>
    <weld name="off" body1="plate" body2="world" active="false"/>
    <joint name="cam" joint1="x" joint2="turn" polycoef="0 0.3 -0.2 0.1 -0.05"/>
    <joint name="ratio" joint1="g1" joint2="g2" polycoef="0.1 -2.5 0 0 0"/>
    <joint name="held" joint1="h1" polycoef="0.3 0 0 0 0"/>
    <tendon name="differential" tendon1="sum" tendon2="one" polycoef="0.1 0.7 0 0 0"/>
  </equality>
</mujoco>
"""

# Sites that are held together, given relative poses, and distances, which do not hold at the reference.
SITES = """
<mujoco model="sites">
  <compiler angle="radian"/>
  <worldbody>
    <site name="hook" pos="0.1 0.2 1.5"/>
    <body name="upper" pos="0 0 1"><joint name="u1" axis="0 1 0"/><joint name="u2" axis="1 0 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/>
      <body name="lower" pos="0 0 -0.5"><joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/><site name="foot" pos="0 0 -0.5"/>
      </body></body>
    <body name="box" pos="0.4 0 0.5"><freejoint name="box"/><geom type="box" size="0.1 0.2 0.3"/>
      <site name="corner" pos="0.1 0.2 0.3" euler="0.3 0.2 0.1"/></body>
    <body name="lid" pos="0.8 0 0.5"><freejoint name="lid"/><geom type="box" size="0.1 0.2 0.01"/>
      <site name="edge" pos="-0.1 0 0" euler="0 0 1"/></body>
    <body name="sub" pos="0.7 0 0.5"><joint name="lift" type="slide" axis="0 0 1"/>
      <geom type="box" size="0.1 0.2 0.01"/></body>
    <body name="rod" pos="2 0 0.5"><joint name="rod" type="ball"/>
      <geom type="capsule" fromto="0 0 0 0.5 0 0" size="0.01"/>
      <site name="end" pos="0.5 0 0"/></body>
  </worldbody>
  <tendon><spatial name="distance"><site site="hook"/><site site="end"/></spatial></tendon>
  <equality>
    <connect name="foot" site1="corner" site2="foot"/>
    <weld name="lid" site1="corner" site2="edge"/>
    <weld name="place" body1="sub" body2="box" relpose="0.1 0 0.1 0.9 0.1 0.2 0.3" anchor="0 0.1 0" torquescale="0"/>
    <tendon name="distance" tendon1="distance" polycoef="-0.2 0 0 0 0"/>
  </equality>
</mujoco>
"""


def shipped():
    """Texts of MJCF in the files of the wheel, by file and line; the one whole file has its mesh replaced by a ball."""
    import mujoco

    root, found = Path(mujoco.__file__).parent, {}
    for file in sorted(root.rglob("*.py")):
        source = file.read_text()
        for node in ast.walk(ast.parse(source)) if "<mujoco" in source else ():
            text = node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
            if "<mujoco" in text and "</mujoco>" in text:
                found[f"{file.relative_to(root)}:{node.lineno}"] = text[text.index("<mujoco") : text.rindex(">") + 1]
    for file in sorted([*root.rglob("*.rst"), *root.rglob("*.md")]):
        text = file.read_text()
        for match in re.finditer(r"<mujoco[ >].*?</mujoco>", text, re.DOTALL):
            found[f"{file.relative_to(root)}:{text[: match.start()].count(chr(10)) + 1}"] = match[0]
    for file in sorted((root / "testdata").glob("model.xml")):
        found[file.name] = file.read_text().replace('type="mesh" mesh="icosahedron"', "")
    return found


class Random:
    """Random trees with equalities that hold at the reference, joints by joints."""

    def __init__(self, rng):
        self.rng, self.count = rng, 0

    def numbers(self, n, size=1.0):
        return " ".join(repr(float(x)) for x in self.rng.uniform(-size, size, n))

    def inertial(self):
        A = self.rng.standard_normal((3, 3))
        inertia = A @ A.T + 0.2 * self.rng.random() * 3.0
        inertia = (inertia.trace() * _identity() - inertia) * 0.02
        i = inertia
        full = " ".join(repr(float(x)) for x in (i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]))
        return f'<inertial pos="{self.numbers(3, 0.2)}" mass="{self.rng.uniform(0.5, 3)!r}" fullinertia="{full}"/>'

    def joints(self, top):
        rng, way = self.rng, self.rng.random()
        if top and way < 0.15:
            return [f'<freejoint name="f{self.count}"/>']
        kinds = ["ball"] if way < 0.3 else ["slide", "ball"] if way < 0.4 else []
        kinds = kinds or [str(x) for x in rng.choice(["hinge", "slide"], rng.integers(1, 4))]
        made = []
        for k, kind in enumerate(kinds):
            more = f'ref="{rng.uniform(-1, 1)!r}"' if kind != "ball" and rng.random() < 0.6 else ""
            if kind != "ball" and rng.random() < 0.4:
                more += f' armature="{rng.uniform(0, 0.3)!r}" stiffness="{rng.uniform(0, 20)!r}"'
                more += f' springref="{rng.uniform(-1, 1)!r}" frictionloss="{rng.uniform(0, 1)!r}"'
            damping = f'damping="{rng.uniform(0, 1)!r}"' if rng.random() < 0.5 else ""
            made.append(
                f'<joint name="j{self.count}_{k}_{kind[0]}" type="{kind}" pos="{self.numbers(3, 0.2)}" '
                f'axis="{self.numbers(3)}" {more} {damping}/>'
            )
        return made

    def body(self, depth, names):
        self.count += 1
        name = f"b{self.count}"
        names.append(name)
        parts = [*self.joints(depth == 0), self.inertial()] if self.rng.random() < 0.9 else [self.inertial()]
        inner = [self.body(depth + 1, names) for _ in range(self.rng.integers(0, 3 if depth < 3 else 1))]
        pose = f'pos="{self.numbers(3, 0.5)}" quat="{self.numbers(4)}"'
        return f'<body name="{name}" {pose}>{"".join(parts)}{"".join(inner)}</body>'

    def text(self):
        names: list[str] = []
        bodies = "".join(self.body(0, names) for _ in range(self.rng.integers(1, 4)))
        scalar = re.findall(r'name="(j\w+_[hs])"', bodies)
        equalities = []
        for _ in range(self.rng.integers(0, 4)):
            way = self.rng.random()
            a, b = self.rng.choice(names), self.rng.choice([*names, "world"])
            if way < 0.4 and len(scalar) > 1:
                one, two = self.rng.choice(scalar, 2, replace=False)
                c = [0.0, *self.rng.uniform(-1, 1, 4)] if way < 0.2 else [0.0, self.rng.uniform(-2, 2), 0, 0, 0]
                coefficients = " ".join(repr(float(x)) for x in c)
                equalities.append(f'<joint joint1="{one}" joint2="{two}" polycoef="{coefficients}"/>')
            elif a != b:
                kind = "connect" if way < 0.8 else "weld"
                equalities.append(f'<{kind} body1="{a}" body2="{b}" anchor="{self.numbers(3, 0.4)}"/>')
        return (
            f'<mujoco model="random"><compiler angle="radian"/><worldbody>{bodies}</worldbody>'
            f"<equality>{''.join(equalities)}</equality></mujoco>"
        )


def _identity():
    import numpy as np

    return np.eye(3)
