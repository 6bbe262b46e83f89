// Forces as arrows, whose length is the force; moments as arcs about their axis, whose angle is the moment.

import * as THREE from "three";
import { between, place } from "./track.js";

const UP = new THREE.Vector3(0, 1, 0);
const OUT = new THREE.Vector3(0, 0, 1);
const USUAL_LENGTH = 0.34; // of the size of the machine: the arrow of a large force that lasts
const LONGEST = 0.75; // of it: longer arrows, of short peaks, are cut, with a head twice
const LEAST = 0.012; // of the size of the machine: shorter arrows are only dots
const USUAL = 1.5 * Math.PI; // rad: the arc of a usual moment
const MOST = 1.9 * Math.PI; // rad: longer arcs would meet themselves
const STEPS = 72; // of an arc
const SIDES = 8; // of its tube

export class Arrows {
  constructor(data, machine) {
    this.machine = machine;
    this.root = new THREE.Group();
    this.groups = data.groups.map((group) => ({ ...group }));
    this.size = machine.look.size;
    this.zoom = 1;
    this.radius = 0.055 * this.size; // of all arcs
    this.items = data.items.map((item) => this._item(item));
    this.times = machine.motion.times.data;
    this.rescale();
    this._v = new THREE.Vector3();
    this._p = new THREE.Vector3();
  }

  /** Forces against forces, moments against moments: what is large of those shown has a sensible share of the scene. */
  rescale() {
    const largest = (unit) => {
      const of = this.groups.filter((group) => group.unit === unit);
      return Math.max(...of.filter((group) => group.on).map((group) => group.size), 0) || Math.max(...of.map((group) => group.size), 0) || 1;
    };
    this.scale = { N: (USUAL_LENGTH * this.size) / largest("N"), "N m": USUAL / largest("N m") };
  }

  _item(item) {
    const group = this.groups[item.group];
    const material = new THREE.MeshBasicMaterial({ color: group.color, depthTest: false, transparent: true });
    material.opacity = 0.92;
    const drawn = { ...item, object: new THREE.Group(), material, value: [0, 0, 0], unit: item.unit };
    const thick = Math.min(0.0065 * this.size, 0.3 * this.machine.look.width); // slim bars are not hidden
    if (item.unit === "N") {
      drawn.shaft = new THREE.Mesh(new THREE.CylinderGeometry(thick, thick, 1, 10).translate(0, 0.5, 0), material);
      drawn.head = new THREE.Mesh(new THREE.ConeGeometry(2.7 * thick, 8 * thick, 16).translate(0, 4 * thick, 0), material);
      drawn.headLength = 8 * thick;
    } else {
      drawn.shaft = new THREE.Mesh(new THREE.TubeGeometry(new Turn(this.radius), STEPS, 0.8 * thick, SIDES), material);
      drawn.head = new THREE.Mesh(new THREE.ConeGeometry(2.4 * thick, 6 * thick, 16).translate(0, 2 * thick, 0), material);
    }
    drawn.again = drawn.head.clone(); // a second head: there is more than is drawn
    drawn.object.add(drawn.shaft, drawn.head, drawn.again);
    for (const mesh of [drawn.shaft, drawn.head, drawn.again]) {
      mesh.renderOrder = 10;
      mesh.frustumCulled = false;
      mesh.userData = { arrow: drawn };
    }
    this.root.add(drawn.object);
    return drawn;
  }

  show(t) {
    const where = place(this.times, t);
    const { bodies } = this.machine;
    for (const item of this.items) {
      const group = this.groups[item.group];
      for (let k = 0; k < 3; k++) item.value[k] = between(item.values.data, 3, k, where);
      this._v.fromArray(item.value);
      const length = this._v.length() * this.scale[item.unit] * this.zoom;
      const seen = group.on && Number.isFinite(length) && length > (item.unit === "N" ? LEAST * this.size : LEAST * USUAL);
      item.object.visible = seen;
      if (!seen) continue;
      item.object.position.copy(this._p.fromArray(item.point).applyMatrix4(bodies[item.body].matrixWorld));
      this._v.normalize();
      const most = item.unit === "N" ? LONGEST * this.size : MOST;
      item.cut = item.again.visible = length > most;
      if (item.unit === "N") {
        item.object.quaternion.setFromUnitVectors(UP, this._v);
        item.length = Math.min(length, most);
        const head = Math.min(item.headLength, 0.6 * item.length);
        item.shaft.scale.set(1, item.length - 0.9 * head, 1);
        item.head.position.y = item.length - head;
        item.again.position.y = item.length - 1.8 * head;
        for (const one of [item.head, item.again]) one.scale.setScalar(head / item.headLength);
      } else {
        item.object.quaternion.setFromUnitVectors(OUT, this._v);
        const steps = Math.max(1, Math.round((STEPS * Math.min(length, MOST)) / (2 * Math.PI)));
        item.shaft.geometry.setDrawRange(0, 6 * SIDES * steps);
        const angle = (2 * Math.PI * steps) / STEPS;
        for (const [one, back] of [[item.head, 0], [item.again, 0.35]]) {
          one.position.set(this.radius * Math.cos(angle - back), this.radius * Math.sin(angle - back), 0);
          one.rotation.z = angle - back;
        }
      }
    }
  }

  /** A round number of a unit, of which an SI unit has `factor`, with the length of its arrow (m) or the angle of its arc (rad), at most `longest`. */
  legend(unit, longest, factor = 1) {
    const scale = (this.scale[unit] * this.zoom) / factor;
    const most = longest / scale;
    const power = 10 ** Math.floor(Math.log10(most));
    const round = [5, 2, 1].map((m) => m * power).find((value) => value <= most) || power;
    return { value: round, size: round * scale };
  }

  /** Units of the arrows that this motion has in groups that are on, with these groups. */
  kinds() {
    return ["N", "N m"].map((unit) => [unit, this.groups.filter((group) => group.on && group.unit === unit)]).filter(([, groups]) => groups.length);
  }

  /** Boxes around the tips of arrows and around arcs over the motion, as points: they are seen as well. */
  reached(rows = 48) {
    const points = [];
    const step = Math.max(1, Math.floor(this.times.length / rows));
    const a = new THREE.Vector3();
    for (const item of this.items) {
      if (!this.groups[item.group].on) continue;
      for (let row = 0; row < this.times.length; row += step) {
        this._v.fromArray(item.values.data, 3 * row);
        const length = Math.min(this._v.length() * this.scale[item.unit] * this.zoom, LONGEST * this.size);
        if (!(length > 0)) continue;
        this.machine.pointAt(row, item.body, item.point, a);
        if (item.unit === "N") points.push(a.clone().addScaledVector(this._v.normalize(), length));
        else for (const s of [-1, 1]) for (const k of [0, 1, 2]) points.push(a.clone().setComponent(k, a.getComponent(k) + 1.3 * s * this.radius));
      }
    }
    return points;
  }

  get visible() {
    return this.items.filter((item) => item.object.visible);
  }

  dispose() {
    this.root.traverse((object) => {
      object.geometry?.dispose();
      object.material?.dispose();
    });
  }
}

/** Once around in the plane of x and y. */
class Turn extends THREE.Curve {
  constructor(radius) {
    super();
    this.radius = radius;
  }

  getPoint(s, target = new THREE.Vector3()) {
    return target.set(this.radius * Math.cos(2 * Math.PI * s), this.radius * Math.sin(2 * Math.PI * s), 0);
  }
}
