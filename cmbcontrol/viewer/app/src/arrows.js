// Forces as arrows, whose length is the force; moments as arcs about their axis, whose angle is the moment.

import * as THREE from "three";
import { between, place } from "./track.js";

const UP = new THREE.Vector3(0, 1, 0);
const OUT = new THREE.Vector3(0, 0, 1);
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
    // the scale: nearly the largest force of the run, spikes aside, is a third of the machine long
    this.scale = { N: (0.34 * this.size) / (data.scale.N || 1), "N m": USUAL / (data.scale["N m"] || 1) };
    this._v = new THREE.Vector3();
    this._p = new THREE.Vector3();
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
    drawn.object.add(drawn.shaft, drawn.head);
    for (const mesh of [drawn.shaft, drawn.head]) {
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
      if (item.unit === "N") {
        item.object.quaternion.setFromUnitVectors(UP, this._v);
        const head = Math.min(item.headLength, 0.6 * length);
        item.shaft.scale.set(1, length - 0.9 * head, 1);
        item.head.position.y = length - head;
        item.head.scale.setScalar(head / item.headLength);
      } else {
        item.object.quaternion.setFromUnitVectors(OUT, this._v);
        const steps = Math.max(1, Math.round((STEPS * Math.min(length, MOST)) / (2 * Math.PI)));
        item.shaft.geometry.setDrawRange(0, 6 * SIDES * steps);
        const angle = (2 * Math.PI * steps) / STEPS;
        item.head.position.set(this.radius * Math.cos(angle), this.radius * Math.sin(angle), 0);
        item.head.rotation.z = angle;
      }
    }
  }

  /** A round number of a unit, with the length of its arrow (m) or the angle of its arc (rad), at most `longest`. */
  legend(unit, longest) {
    const scale = this.scale[unit] * this.zoom;
    const most = longest / scale;
    const power = 10 ** Math.floor(Math.log10(most));
    const round = [5, 2, 1].map((m) => m * power).find((value) => value <= most) || power;
    return { value: round, size: round * scale };
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
