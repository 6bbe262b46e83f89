// The time that is shown, and how it runs. All that shows something listens.

export class Player {
  constructor() {
    this.listeners = [];
    this.begin = this.end = this.time = 0;
    this.speed = 1; // seconds of the run for one second on the screen
    this.loop = true;
    this.playing = false;
    this._last = 0;
    this._tick = (now) => this._advance(now);
  }

  /** Call `listener(player)` now and after each change. */
  listen(listener) {
    this.listeners.push(listener);
    listener(this);
  }

  changed() {
    for (const listener of this.listeners) listener(this);
  }

  range(begin, end, speed, loop) {
    Object.assign(this, { begin, end, time: begin, speed, loop });
    this.changed();
  }

  seek(time) {
    this.time = Math.min(Math.max(time, this.begin), this.end);
    this.changed();
  }

  setSpeed(speed) {
    this.speed = speed;
    this.changed();
  }

  toggle() {
    this.playing ? this.pause() : this.play();
  }

  play() {
    if (this.playing || !(this.end > this.begin)) return;
    if (this.time >= this.end) this.time = this.begin;
    this.playing = true;
    this._last = performance.now();
    this.changed();
    requestAnimationFrame(this._tick);
  }

  pause() {
    this.playing = false;
    this.changed();
  }

  _advance(now) {
    if (!this.playing) return;
    const elapsed = Math.min(Math.max(now - this._last, 0) / 1000, 0.25); // a page that was hidden does not jump ahead
    this._last = now;
    let time = this.time + elapsed * this.speed;
    if (time >= this.end) {
      if (this.loop) time = this.begin + ((time - this.begin) % (this.end - this.begin));
      else {
        time = this.end;
        this.playing = false;
      }
    }
    this.time = time;
    this.changed();
    if (this.playing) requestAnimationFrame(this._tick);
  }
}
