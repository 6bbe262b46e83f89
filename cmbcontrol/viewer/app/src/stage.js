// Where the machine stands: renderer, light, cameras, ground. It draws only when something has changed.

import * as THREE from "three";
import { OrbitControls } from "three/examples/jsm/controls/OrbitControls.js";
import { freePlace } from "./free.js";

const FOV = 32; // degrees: little distortion, as technical pictures have it
const FAR = 6; // sizes of the machine: a motion that is longer than this is followed

const LOOKS = {
  light: { top: "#ffffff", bottom: "#e3e8ee", grid: 0xb9c3ce, fine: 0xe6ebf0, shadow: 0.2, sky: 0xffffff, soil: 0xc4cad1 },
  dark: { top: "#2a323c", bottom: "#14181d", grid: 0x414c58, fine: 0x2a323b, shadow: 0.42, sky: 0xffffff, soil: 0x5a6470 },
};

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.covers = () => []; // boxes of the page that lie over the canvas
    this.more = () => []; // points beside the machine that are to be seen
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, powerPreference: "low-power" });
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = THREE.PCFShadowMap;
    this.scene = new THREE.Scene();
    this.hemisphere = new THREE.HemisphereLight(0xffffff, 0xa7afb8, 1.55);
    this.sun = new THREE.DirectionalLight(0xffffff, 2.1);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(1024, 1024);
    this.fill = new THREE.DirectionalLight(0xffffff, 0.55);
    this.scene.add(this.hemisphere, this.sun, this.sun.target, this.fill, this.fill.target);
    this.flat = new THREE.OrthographicCamera();
    this.deep = new THREE.PerspectiveCamera(FOV);
    this.camera = this.deep;
    this.floor = new THREE.Group();
    this.scene.add(this.floor);
    this.machine = null;
    this.follow = false;
    this._asked = false;
    this._listeners = [];
    this._draw = () => this.render();
    new ResizeObserver(() => this.resize()).observe(canvas.parentElement);
  }

  onDraw(listener) {
    this._listeners.push(listener);
  }

  /** Take another machine; null objects are left out. */
  take(machine, extra) {
    for (const object of this.content || []) this.scene.remove(object);
    this.content = [machine.root, ...extra];
    this.scene.add(...this.content);
    this.machine = machine;
    const { plane, up, size } = machine.look;
    this.up = new THREE.Vector3().fromArray(up);
    this.points = machine.reached();
    if (!this.points.length) this.points = [new THREE.Vector3()];
    this.box = new THREE.Box3().setFromPoints(this.points);
    this.span = Math.max(this.box.getSize(new THREE.Vector3()).length(), 1e-6 * size, 1e-9);
    this.follow = this.span > FAR * size * 2;
    // to the right on the screen, and towards who looks
    const right = plane
      ? new THREE.Vector3().crossVectors(this.up, unit(plane[0]).cross(unit(plane[1])))
      : unit(Math.abs(this.up.x) > 0.9 ? 1 : 0);
    right.addScaledVector(this.up, -right.dot(this.up)).normalize();
    this.axes = { right, up: this.up, front: new THREE.Vector3().crossVectors(right, this.up) };
    this._ground();
    this._light();
    this.look(plane ? "front" : "space", !plane);
  }

  _light() {
    const { right, up, front } = this.axes;
    const centre = this.follow ? this._middle() : this.box.getCenter(new THREE.Vector3());
    const r = this.follow ? this.machine.look.size * 2 : 0.62 * this.span;
    // in space from above; of a plane machine from where one looks, so that shadows lie close behind it
    const [a, b, c] = this.machine.look.plane ? [-0.2, 0.45, 2] : [-0.55, 1.5, 0.85];
    const towards = right.clone().multiplyScalar(a).addScaledVector(up, b).addScaledVector(front, c).normalize();
    this.sun.position.copy(centre).addScaledVector(towards, 2.5 * r);
    this.sun.target.position.copy(centre);
    Object.assign(this.sun.shadow.camera, { left: -r, right: r, top: r, bottom: -r, near: 0.5 * r, far: 5 * r });
    this.sun.shadow.camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = 0.003 * r; // texels of the map are 0.002 r wide
    this.sun.shadow.bias = -0.0012; // of its depth, 4.5 r: thin rods do not shade themselves in stripes
    this.sun.shadow.radius = 3;
    this.hemisphere.position.copy(up);
    // a plane machine faces its light: with as much as in space its colours would fade
    this.hemisphere.intensity = this.machine.look.plane ? 1.15 : 1.75;
    this.sun.intensity = this.machine.look.plane ? 1.5 : 2.1;
    this.fill.intensity = this.machine.look.plane ? 0.35 : 0.7;
  }

  /** A grid that the machine stands on, or that a plane machine moves in front of. */
  _ground() {
    for (const child of [...this.floor.children]) {
      this.floor.remove(child);
      child.geometry.dispose();
      child.material.dispose();
    }
    const { plane, size } = this.machine.look;
    const { right, up, front } = this.axes;
    const across = plane ? up : front;
    const normal = plane ? front : up;
    const along = (axis) => this.points.map((p) => p.dot(axis));
    const low = (axis) => Math.min(...along(axis));
    const high = (axis) => Math.max(...along(axis));
    const reach = this.follow ? 6 * size : Math.max(high(right) - low(right), high(across) - low(across), 0.5 * size);
    const step = 10 ** Math.floor(Math.log10(reach / 2));
    const major = reach / step < 5 ? step / 2 : reach / step > 12 ? 2 * step : step;
    this.major = major;
    const level = low(normal) - (plane ? 0.02 : 0.004) * reach;
    const ends = (axis, more) => [Math.floor((low(axis) - more) / major) * major, Math.ceil((high(axis) + more) / major) * major];
    const more = (plane ? 1.4 : 0.35) * reach;
    const around = (axis) => [-12, 12].map((k) => (Math.round(this.box.getCenter(new THREE.Vector3()).dot(axis) / major) + k) * major);
    const [a0, a1] = this.follow ? around(right) : ends(right, more);
    const [b0, b1] = this.follow ? around(across) : ends(across, more);
    this.centre = at3(right, (a0 + a1) / 2, across, (b0 + b1) / 2);
    this.level = level;
    const at = (a, b) => normal.clone().multiplyScalar(level).addScaledVector(right, a).addScaledVector(across, b);
    const lines = (width) => {
      const points = [];
      for (let k = 0; k <= Math.round((a1 - a0) / width); k++) points.push(at(a0 + k * width, b0), at(a0 + k * width, b1));
      for (let k = 0; k <= Math.round((b1 - b0) / width); k++) points.push(at(a0, b0 + k * width), at(a1, b0 + k * width));
      return new THREE.BufferGeometry().setFromPoints(points);
    };
    const fine = new THREE.LineSegments(lines(major / 5), new THREE.LineBasicMaterial());
    const coarse = new THREE.LineSegments(lines(major), new THREE.LineBasicMaterial());
    const sheet = new THREE.Mesh(new THREE.PlaneGeometry(a1 - a0, b1 - b0), new THREE.ShadowMaterial());
    sheet.material.side = THREE.DoubleSide;
    sheet.position.copy(at((a0 + a1) / 2, (b0 + b1) / 2)).addScaledVector(normal, 1e-3 * reach);
    sheet.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
    const basis = new THREE.Matrix4().makeBasis(right, new THREE.Vector3().crossVectors(normal, right), normal);
    sheet.quaternion.setFromRotationMatrix(basis);
    sheet.receiveShadow = true;
    this.floor.add(fine, coarse, sheet);
    this.theme(this.dark);
  }

  theme(dark) {
    this.dark = dark;
    const look = dark ? LOOKS.dark : LOOKS.light;
    this.scene.background?.dispose?.();
    this.scene.background = gradient(look.top, look.bottom);
    this.hemisphere.color.set(look.sky);
    this.hemisphere.groundColor.set(look.soil);
    const [fine, coarse, sheet] = this.floor.children;
    fine?.material.color.set(look.fine);
    coarse?.material.color.set(look.grid);
    if (sheet) sheet.material.opacity = look.shadow;
    this.changed();
  }

  // -- cameras

  /** Look from "front", "side", "top" or "space", with perspective or without. */
  look(from, perspective = this.camera === this.deep) {
    const { right, up, front } = this.axes;
    const mix = (a, b, c) => right.clone().multiplyScalar(a).addScaledVector(up, b).addScaledVector(front, c).normalize();
    const direction = { front: mix(0, 0, 1), side: mix(1, 0, 0), top: mix(0, 1, 0.001), space: mix(0.62, 0.46, 1) }[from];
    this.from = from;
    this.camera = perspective ? this.deep : this.flat;
    this._controls();
    this._fit(direction);
  }

  perspective(on) {
    const direction = this.camera.position.clone().sub(this.controls.target).normalize();
    this.camera = on ? this.deep : this.flat;
    this._controls();
    this._fit(direction);
  }

  fit() {
    this._fit(this.camera.position.clone().sub(this.controls.target).normalize());
  }

  _controls() {
    this.controls?.dispose();
    for (const camera of [this.flat, this.deep]) camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.zoomToCursor = true;
    this.controls.addEventListener("change", () => this.changed());
    this.controls.addEventListener("start", () => (this.fitted = false));
  }

  _middle() {
    const middle = new THREE.Vector3();
    const moving = this.machine.bodies.slice(1);
    for (const body of moving) middle.addScaledVector(body.position, 1 / moving.length);
    return middle;
  }

  /** Put the camera where all that the machine reaches is seen, from a direction. */
  _fit(direction) {
    const canvas = this.canvas.getBoundingClientRect();
    let points = [...this.points, ...this.more()];
    if (this.follow) {
      const middle = this._middle();
      const s = this.machine.look.size;
      points = [-1, 1].flatMap((a) => [-1, 1].flatMap((b) => [-1, 1].map((c) => middle.clone().add(new THREE.Vector3(a, b, c).multiplyScalar(s)))));
    }
    const view = new THREE.Matrix4().lookAt(direction, new THREE.Vector3(), this.up);
    const [x, y, z] = [0, 1, 2].map((k) => new THREE.Vector3().setFromMatrixColumn(view, k));
    const range = (axis) => {
      let [low, high] = [Infinity, -Infinity];
      for (const p of points) {
        const value = p.dot(axis);
        if (value < low) low = value;
        if (value > high) high = value;
      }
      return [low, high];
    };
    const [rx, ry, rz] = [x, y, z].map(range);
    const target = new THREE.Vector3();
    for (const [axis, [low, high]] of [[x, rx], [y, ry], [z, rz]]) target.addScaledVector(axis, (low + high) / 2);
    const least = 0.3 * this.machine.look.size;
    const [w, h, d] = [rx, ry, rz].map(([low, high]) => Math.max(high - low, least));
    const margin = 1.16;
    // in the largest part of the canvas that nothing covers; half the height there is that of all of it times `share`
    const free = freePlace([Math.max(canvas.width, 1), Math.max(canvas.height, 1)], this.covers(), w / h);
    const aspect = free.width / free.height;
    const share = free.height / Math.max(canvas.height, 1);
    this.shift = [free.left + free.width / 2 - canvas.width / 2, free.top + free.height / 2 - canvas.height / 2];
    const half = (margin * Math.max(h, w / aspect)) / 2 / share;
    const tan = Math.tan((FOV * Math.PI) / 360);
    let distance = 0;
    for (const p of points) {
      const q = p.clone().sub(target);
      const reach = Math.max(Math.abs(q.dot(y)), Math.abs(q.dot(x)) / aspect);
      distance = Math.max(distance, q.dot(z) + (margin * reach) / share / tan);
    }
    distance = Math.max(distance, least / tan);
    const away = this.camera === this.deep ? distance : 2 * half + d + this.span;
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(direction, away);
    this.half = half;
    this.camera.zoom = 1;
    this._aspect();
    this.controls.update();
    this._followed = this.follow ? this._middle() : null;
    this._moveFloor();
    this.fitted = true; // until a hand moves the camera
    this.changed();
  }

  /** Fit anew where something covers another part of the canvas, unless a hand has chosen the view. */
  refit() {
    if (this.fitted && this.machine) this.fit();
  }

  _aspect() {
    const { width, height } = this.canvas.getBoundingClientRect();
    const aspect = Math.max(width, 1) / Math.max(height, 1);
    const depth = (this.follow ? 40 * this.machine.look.size : 40 * this.span) + 4 * this.camera.position.distanceTo(this.controls.target);
    this.deep.aspect = aspect;
    Object.assign(this.deep, { near: depth / 4e3, far: depth });
    const h = this.half || 1;
    Object.assign(this.flat, { left: -h * aspect, right: h * aspect, top: h, bottom: -h, near: -depth, far: depth });
    const [x, y] = this.shift || [0, 0];
    for (const camera of [this.flat, this.deep]) {
      camera.setViewOffset(Math.max(width, 1), Math.max(height, 1), -x, -y, Math.max(width, 1), Math.max(height, 1));
    }
  }

  resize() {
    const { width, height } = this.canvas.parentElement.getBoundingClientRect();
    if (!width || !height || !this.controls) return;
    const before = this._size;
    this._size = [width, height];
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio || 1, 2));
    this.renderer.setSize(width, height, false);
    this._aspect();
    if (!before || this.fitted || Math.abs(before[0] / before[1] - width / height) > 0.05) this.fit();
    this.render();
  }

  /** The machine has moved. */
  moved() {
    if (this.follow) {
      const middle = this._middle();
      if (this._followed) {
        const shift = middle.clone().sub(this._followed);
        this.camera.position.add(shift);
        this.controls.target.add(shift);
        this.controls.update();
      }
      this._followed = middle;
      this._light();
      this._moveFloor();
    } else this._followed = null;
    this.changed();
  }

  /** The ground of a machine that is followed: below it, in steps of the grid, so that the motion is seen. */
  _moveFloor() {
    this.floor.position.set(0, 0, 0);
    if (!this.follow) return;
    const { plane, size } = this.machine.look;
    const { right, up, front } = this.axes;
    const [across, normal] = plane ? [up, front] : [front, up];
    const middle = this._middle();
    for (const axis of [right, across]) {
      const centre = this.centre.dot(axis);
      this.floor.position.addScaledVector(axis, Math.round((middle.dot(axis) - centre) / this.major) * this.major);
    }
    this.floor.position.addScaledVector(normal, middle.dot(normal) - size - this.level);
  }

  /** Metres for a pixel of the page, at the point that the camera looks at. */
  get metresPerPixel() {
    const height = this.canvas.getBoundingClientRect().height || 1;
    if (this.camera === this.flat) return (2 * this.half) / this.flat.zoom / height;
    return (2 * Math.tan((FOV * Math.PI) / 360) * this.camera.position.distanceTo(this.controls.target)) / height;
  }

  /** Where a point of the world is on the canvas, px. */
  onScreen(point) {
    const { width, height } = this.canvas.getBoundingClientRect();
    const p = point.clone().project(this.camera);
    return [((p.x + 1) * width) / 2, ((1 - p.y) * height) / 2];
  }

  pick(event, objects) {
    const box = this.canvas.getBoundingClientRect();
    const at = new THREE.Vector2(((event.clientX - box.left) / box.width) * 2 - 1, 1 - ((event.clientY - box.top) / box.height) * 2);
    const ray = new THREE.Raycaster();
    ray.setFromCamera(at, this.camera);
    return ray.intersectObjects(objects, false)[0];
  }

  changed() {
    if (this._asked) return;
    this._asked = true;
    requestAnimationFrame(this._draw);
  }

  render() {
    this._asked = false;
    if (!this.machine) return;
    const towards = this.camera.position.clone().sub(this.controls.target);
    this.fill.position.copy(this.controls.target).add(towards);
    this.fill.target.position.copy(this.controls.target);
    this.renderer.render(this.scene, this.camera);
    for (const listener of this._listeners) listener();
  }

  picture() {
    this.render(); // what was drawn is gone once the page has shown it
    return this.canvas.toDataURL("image/png");
  }
}

/** The point with two coordinates along two axes. */
function at3(u, a, v, b) {
  return u.clone().multiplyScalar(a).addScaledVector(v, b);
}

function unit(k) {
  return new THREE.Vector3().setComponent(k, 1);
}

function gradient(top, bottom) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2, 256];
  const context = canvas.getContext("2d");
  const fill = context.createLinearGradient(0, 0, 0, 256);
  fill.addColorStop(0, top);
  fill.addColorStop(1, bottom);
  context.fillStyle = fill;
  context.fillRect(0, 0, 2, 256);
  const texture = new THREE.CanvasTexture(canvas);
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}
