// The machine: solids that move with its bodies, what stretches between them, lines, traces.

import * as THREE from "three";
import { Line2 } from "three/examples/jsm/lines/Line2.js";
import { LineGeometry } from "three/examples/jsm/lines/LineGeometry.js";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { toCreasedNormals } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import { between, place } from "./track.js";

const CREASE = 0.6; // rad: edges sharper than this are seen as edges, rounder ones as part of a curved surface
const TURNS = 9; // of a spring's coil
const UP = new THREE.Vector3(0, 1, 0);

export class Machine {
  constructor(look, motion) {
    this.look = look;
    this.motion = motion;
    this.root = new THREE.Group();
    this.bodies = look.bodies.map((name) => {
      const body = new THREE.Group();
      body.name = name;
      this.root.add(body);
      return body;
    });
    this.pickable = [];
    this.solids = look.solids.map((solid) => this._solid(solid));
    this.stretched = look.stretched.map((part) => this._stretched(part));
    this.lines = motion.lines.map((line) => this._line(line));
    this.traces = [];
    this._q = [new THREE.Quaternion(), new THREE.Quaternion()];
    this._a = new THREE.Vector3();
    this._b = new THREE.Vector3();
    this.show(motion.times.data[0]);
  }

  _material(color, extra = {}) {
    return new THREE.MeshPhongMaterial({ color, specular: this.look.plane ? 0x080808 : 0x262626, shininess: 34, side: THREE.DoubleSide, ...extra });
  }

  _solid(solid) {
    let geometry = new THREE.BufferGeometry();
    geometry.setAttribute("position", new THREE.BufferAttribute(solid.vertices.data, 3));
    geometry.setIndex(new THREE.BufferAttribute(solid.faces.data, 1));
    geometry = solid.smooth ? toCreasedNormals(geometry, CREASE) : geometry.toNonIndexed();
    if (!solid.smooth) geometry.computeVertexNormals();
    const mesh = new THREE.Mesh(geometry, this._material(solid.color));
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.userData = solid;
    this.bodies[solid.body].add(mesh);
    this.pickable.push(mesh);
    return mesh;
  }

  _stretched(part) {
    const mesh = new THREE.Mesh(stretchable(part), this._material(part.color));
    mesh.castShadow = true;
    mesh.userData = part;
    this.root.add(mesh);
    this.pickable.push(mesh);
    return mesh;
  }

  _line(line) {
    const drawn = thick(new Float32Array(3 * line.points.shape[1]), line.color, 4);
    this.root.add(drawn);
    return drawn;
  }

  /** Move to a time. */
  show(t) {
    const { times, positions, rotations, ends, lines } = this.motion;
    const where = place(times.data, t);
    const [i, s] = where;
    const count = this.bodies.length;
    this.bodies.forEach((body, k) => {
      const at = (row) => 4 * (row * count + k);
      body.position.set(...[0, 1, 2].map((x) => between(positions.data, 3 * count, 3 * k + x, where)));
      this._q[0].fromArray(rotations.data, at(i)).normalize();
      if (s > 0) this._q[0].slerp(this._q[1].fromArray(rotations.data, at(i + 1)).normalize(), s);
      body.quaternion.copy(this._q[0]);
      body.updateMatrixWorld();
    });
    this.stretched.forEach((mesh, k) => {
      const width = 6 * this.stretched.length;
      this._a.set(...[0, 1, 2].map((x) => between(ends.data, width, 6 * k + x, where)));
      this._b.set(...[3, 4, 5].map((x) => between(ends.data, width, 6 * k + x, where)));
      mesh.position.copy(this._a);
      this._b.sub(this._a);
      const length = Math.max(this._b.length(), 1e-9 * this.look.size);
      mesh.quaternion.setFromUnitVectors(UP, this._b.divideScalar(length));
      mesh.scale.set(1, length, 1);
    });
    this.lines.forEach((line, k) => {
      const points = lines[k].points;
      const width = 3 * points.shape[1];
      const now = new Float32Array(width);
      for (let x = 0; x < width; x++) now[x] = between(points.data, width, x, where);
      segments(line.geometry, now);
    });
    for (const trace of this.traces) trace.show(t);
  }

  /** Where a point of a body is at a row of the motion. */
  pointAt(row, body, point, target = new THREE.Vector3()) {
    const { positions, rotations } = this.motion;
    const k = row * this.bodies.length + body;
    target.fromArray(point).applyQuaternion(this._q[1].fromArray(rotations.data, 4 * k).normalize());
    return target.add(this._a.fromArray(positions.data, 3 * k));
  }

  /** The path of a point, which grows with time; of a motion that repeats itself, all of it. */
  trace({ body, point, color }) {
    const trace = new Trace(this, body, point, color);
    this.traces.push(trace);
    this.root.add(trace.object);
    return trace;
  }

  /** Points that the machine reaches during its motion: corners of the boxes around its solids. */
  reached(rows = 48) {
    const { times, ends, lines } = this.motion;
    const points = [];
    const count = times.data.length;
    const step = Math.max(1, Math.floor(count / rows));
    const corners = this.bodies.map(() => []);
    for (const mesh of this.solids) {
      mesh.geometry.computeBoundingBox();
      const { min, max } = mesh.geometry.boundingBox;
      for (let c = 0; c < 8; c++) {
        const corner = [c & 1 ? max.x : min.x, c & 2 ? max.y : min.y, c & 4 ? max.z : min.z];
        corners[mesh.userData.body].push(corner);
      }
    }
    for (let row = 0; row < count; row += step) {
      corners.forEach((list, k) => list.forEach((corner) => points.push(this.pointAt(row, k, corner))));
      for (const [data, width] of [[ends.data, 6 * this.stretched.length], ...lines.map(({ points: p }) => [p.data, 3 * p.shape[1]])]) {
        for (let x = row * width; x < (row + 1) * width; x += 3) points.push(new THREE.Vector3().fromArray(data, x));
      }
    }
    return points.filter((p) => Number.isFinite(p.x + p.y + p.z));
  }

  glass(on) {
    for (const mesh of this.solids) {
      if (mesh.userData.kind !== "body") continue;
      mesh.material.transparent = on;
      mesh.material.opacity = on ? 0.32 : 1;
      mesh.material.depthWrite = !on;
      mesh.castShadow = !on;
    }
  }

  dispose() {
    this.root.traverse((object) => {
      object.geometry?.dispose();
      object.material?.dispose();
    });
  }
}

class Trace {
  constructor(machine, body, point, color) {
    this.motion = machine.motion;
    const { times } = this.motion;
    const rows = new Float32Array(3 * times.data.length);
    for (let row = 0; row < times.data.length; row++) machine.pointAt(row, body, point).toArray(rows, 3 * row);
    this.object = thick(rows, color, 2.2);
  }

  show(t) {
    const { times, repeats } = this.motion;
    const [i, s] = place(times.data, t);
    const last = times.data.length - 1;
    this.object.geometry.instanceCount = repeats ? last : Math.min(Math.round(i + s), last);
  }
}

/** A line through points that is `width` px thick. */
function thick(points, color, width) {
  const geometry = new LineGeometry();
  geometry.setPositions(points.length > 3 ? points : [...points, ...points]);
  const line = new Line2(geometry, new LineMaterial({ color, linewidth: width }));
  line.frustumCulled = false;
  return line;
}

/** Other points for a line that is there. */
function segments(geometry, points) {
  const { array } = geometry.attributes.instanceStart.data;
  for (let k = 0; 3 * k + 3 < points.length; k++) array.set(points.subarray(3 * k, 3 * k + 6), 6 * k);
  geometry.attributes.instanceStart.data.needsUpdate = true;
}

/** A shape from the origin to (0, 1, 0), which is scaled along. */
function stretchable({ kind, radius }) {
  if (kind === "spring") return new THREE.TubeGeometry(new Coil(radius), 26 * TURNS, 0.16 * radius, 6);
  if (kind === "damper") {
    const barrel = [0.2, 0.6].map((y) => new THREE.Vector2(radius, y));
    const rod = 0.4 * radius;
    const outline = [new THREE.Vector2(0, 0), new THREE.Vector2(rod, 0), new THREE.Vector2(rod, 0.2), ...barrel];
    outline.push(new THREE.Vector2(rod, 0.6), new THREE.Vector2(rod, 1), new THREE.Vector2(0, 1));
    return new THREE.LatheGeometry(outline, 20);
  }
  const thick = kind === "rope" || kind === "guide" ? 0.6 * radius : radius;
  return new THREE.CylinderGeometry(thick, thick, 1, 18).translate(0, 0.5, 0);
}

class Coil extends THREE.Curve {
  constructor(radius) {
    super();
    this.radius = radius;
  }

  getPoint(s, target = new THREE.Vector3()) {
    const end = 0.12; // straight ends
    const along = Math.min(Math.max((s - end) / (1 - 2 * end), 0), 1);
    const angle = 2 * Math.PI * TURNS * along;
    const r = this.radius * Math.min(1, 12 * Math.min(along, 1 - along));
    return target.set(r * Math.cos(angle), s, r * Math.sin(angle));
  }
}
