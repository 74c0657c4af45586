'use strict';

// What the page knows: the runs, unpacked. Times are nanoseconds of the run's clock, whole up to 104 days.

const VERDICTS = ['foreground-deliver', 'background-deliver', 'resume', 'relaunch', 'defer', 'coalesce', 'drop', 'deny'];
const FIRST_REFUSAL = 4;
const DENY = 7;
const STATES = ['not-running', 'inactive', 'active', 'background', 'suspended', 'terminated', 'force-quit'];
const SUSPENDED = 4;
const RULES = JSON.parse(document.querySelector('script.rules').textContent);

/** The bytes of base64. */
function bytesOf(base64) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(base64);
  const letters = atob(base64);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

/** Reads packed numbers one after the other. */
class Reader {
  constructor(bytes, offset = 0) {
    this.bytes = bytes;
    this.offset = offset;
  }

  /** Numbers of more than 53 bits lose their last ones. */
  next() {
    let byte = this.bytes[this.offset++];
    if (byte < 0x80) return byte;
    let number = byte & 0x7f;
    let unit = 128;
    do {
      byte = this.bytes[this.offset++];
      number += (byte & 0x7f) * unit;
      unit *= 128;
    } while (byte >= 0x80);
    return number;
  }

  signed() {
    const number = this.next();
    return number % 2 ? -(number + 1) / 2 : number / 2;
  }
}

/** A column as it is. */
function plain(base64, count, Kind) {
  const reader = new Reader(bytesOf(base64));
  const column = new Kind(count);
  for (let i = 0; i < count; i++) column[i] = reader.next();
  return column;
}

/** A column of what was added each time. */
function summed(base64, count) {
  const reader = new Reader(bytesOf(base64));
  const column = new Float64Array(count);
  for (let i = 0, sum = 0; i < count; i++) column[i] = sum += reader.signed();
  return column;
}

/** The positions of all that have a key of `count`, one key after the other; a key below 0 is none. */
class Groups {
  constructor(keys, count) {
    this.starts = new Uint32Array(count + 1);
    for (const key of keys) if (key >= 0) this.starts[key + 1]++;
    for (let i = 0; i < count; i++) this.starts[i + 1] += this.starts[i];
    const next = this.starts.slice();
    this.positions = new Uint32Array(this.starts[count]);
    for (let i = 0; i < keys.length; i++) if (keys[i] >= 0) this.positions[next[keys[i]]++] = i;
  }

  of(key) {
    return this.positions.subarray(this.starts[key], this.starts[key + 1]);
  }
}

/** The first place from which on the times of positions are not below a time. */
function firstFrom(times, positions, time) {
  let low = 0;
  let high = positions.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[positions[middle]] < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One run, unpacked. */
class Run {
  constructor(json, index) {
    this.json = json;
    this.index = index;
    this.letter = 'AB'[index];
    /** What the run is called; of two of one scenario, where each is. */
    this.title = json.title;
    this.end = json.end;
    this.apps = json.apps;
    this.texts = json.texts;
    this.unpackDecisions(json.decisions);
    this.unpackValues(json.values);
    this.unpackOutcomes(json.outcomes, json.calls);
    this.unpackMoves(json.moves);
    this.differs = new Uint8Array(this.count);
    this.group();
  }

  unpackDecisions(columns) {
    const count = this.count = columns.count;
    this.time = summed(columns.time, count);
    this.number = summed(columns.number, count);
    this.event = summed(columns.event, count);
    this.app = plain(columns.app, count, Int32Array).map(number => number - 1);
    this.what = plain(columns.what, count, Uint32Array);
    this.ruling = plain(columns.ruling, count, Uint32Array);
    this.budget = plain(columns.budget, count, Uint32Array);
    this.replaces = plain(columns.replaces, count, Float64Array);
    const verdicts = this.json.rulings.map(ruling => VERDICTS.indexOf(ruling[0]));
    this.verdict = Uint8Array.from(this.ruling, number => verdicts[number]);
  }

  /** What came with the event of each decision, as one more than its place among the texts; 0 for nothing. */
  unpackValues(columns) {
    const [steps, texts] = ['decision', 'text'].map(name => plain(columns[name], columns.count, Uint32Array));
    this.value = new Uint32Array(this.count);
    for (let i = 0, decision = 0; i < columns.count; i++) this.value[decision += steps[i]] = texts[i] + 1;
  }

  /** Puts together what is about the same app, source or device. */
  group() {
    this.ofApp = new Groups(this.app, this.apps.length);
    this.movesOfApp = new Groups(this.moves.app, this.apps.length);
    this.callsOfApp = new Groups(this.calls.app, this.apps.length);
    // Deferred callbacks may come later than those of the next decision.
    for (let app = 0; app < this.apps.length; app++) this.callsOfApp.of(app).sort((a, b) => this.calls.time[a] - this.calls.time[b]);
    this.sources = [...new Set(this.json.whats.map(what => what[0]))];
    this.ofSource = this.events(this.json.whats.map(what => this.sources.indexOf(what[0])), this.sources.length);
    const devices = this.json.devices.map(device => device.name);
    const places = new Map(devices.map((name, place) => [name, place]));
    const deviceOf = what => (this.json.kinds[what[1]].device ? places.get(what[2].split('/')[0]) ?? -1 : -1);
    this.ofDevice = this.events(this.json.whats.map(deviceOf), devices.length);
    this.counts = new Uint32Array(VERDICTS.length);
    for (const verdict of this.verdict) this.counts[verdict]++;
  }

  /** Positions by a key of what happened; of an event for several apps the first alone. */
  events(keyOfWhat, count) {
    const keys = new Int32Array(this.count);
    let last = -1;
    for (let i = 0; i < this.count; i++) {
      keys[i] = this.event[i] === last && last ? -1 : keyOfWhat[this.what[i]];
      last = this.event[i];
    }
    return new Groups(keys, count);
  }

  unpackOutcomes(columns, calls) {
    const count = columns.count;
    const [steps, pids] = [plain(columns.decision, count, Uint32Array), summed(columns.pid, count)];
    const ended = plain(columns.ended, count, Uint8Array);
    this.outcomes = {
      pid: pids, ended,
      spawn: plain(columns.spawn, count, Float64Array),
      used: plain(columns.used, count, Float64Array),
      exit: plain(columns.exit, count, Float64Array),
      firstCall: new Uint32Array(count + 1),
    };
    this.outcomeOf = new Int32Array(this.count).fill(-1);
    const callCounts = plain(columns.calls, count, Uint32Array);
    const offsets = new Reader(bytesOf(calls.time));
    this.calls = {
      name: plain(calls.name, calls.count, Uint32Array),
      value: plain(calls.value, calls.count, Uint32Array),
      time: new Float64Array(calls.count),
      decision: new Uint32Array(calls.count),
      app: new Int32Array(calls.count),
    };
    for (let i = 0, decision = 0, call = 0; i < count; i++) {
      decision += steps[i];
      this.outcomeOf[decision] = i;
      for (let more = callCounts[i]; more > 0; more--, call++) {
        this.calls.time[call] = this.time[decision] + offsets.signed();
        this.calls.decision[call] = decision;
        this.calls.app[call] = this.app[decision];
      }
      this.outcomes.firstCall[i + 1] = call;
    }
  }

  unpackMoves(columns) {
    this.moves = {
      app: plain(columns.app, columns.count, Int32Array),
      time: summed(columns.time, columns.count),
      state: plain(columns.state, columns.count, Uint8Array),
      pid: summed(columns.pid, columns.count),
    };
  }

  // What a decision is about, and what it came to.
  appOf(i) { return this.app[i] < 0 ? null : this.apps[this.app[i]]; }
  sourceOf(i) { return this.json.whats[this.what[i]][0]; }
  kindOf(i) { return this.json.whats[this.what[i]][1]; }
  subjectOf(i) { return this.json.whats[this.what[i]][2]; }
  happening(i) { return this.subjectOf(i) ? this.kindOf(i) + ' ' + this.subjectOf(i) : this.kindOf(i); }
  reasonOf(i) { return this.json.rulings[this.ruling[i]][1]; }
  ruleOf(i) { return this.json.rulings[this.ruling[i]][2]; }
  /** What came with its event, in hexadecimal; empty for nothing. */
  valueOf(i) { return this.value[i] ? this.texts[this.value[i] - 1] : ''; }
  /** The limit of the wake and what was left of it, in milliseconds; null where nothing is woken. */
  budgetOf(i) { return this.budget[i] ? this.json.budgets[this.budget[i] - 1] : null; }

  /** The name of an app as the scenario has it, or else the bundle's. */
  shortName(app) { return this.json.names[app] ?? app; }

  /** The position of a decision by its number; -1 for none. */
  find(number) {
    if (this.number[number - 1] === number) return number - 1;
    return this.number.indexOf(number);
  }

  /** The decision that came in place of one; -1 for none. */
  replacement(i) {
    if (!this.replacements) {
      this.replacements = new Map();
      for (let later = 0; later < this.count; later++) {
        if (this.replaces[later]) this.replacements.set(this.number[later] - this.replaces[later], later);
      }
    }
    return this.replacements.get(this.number[i]) ?? -1;
  }

  /** The end of the window that a decision gave its app, or of what the app used of it. */
  windowOf(i) {
    const budget = this.budgetOf(i);
    if (!budget || this.verdict[i] >= FIRST_REFUSAL || budget[1] <= 0) return null;
    const [start, end] = [this.time[i], this.time[i] + Math.min(budget[1], 3600000) * 1e6];
    const outcome = this.outcomeOf[i];
    if (outcome >= 0 && this.outcomes.used[outcome]) {
      return { start, end, used: Math.min(end, start + this.outcomes.used[outcome] - 1), limit: budget[0], left: budget[1] };
    }
    const moves = this.movesOfApp.of(this.app[i]);
    let next = firstFrom(this.moves.time, moves, start);
    while (next < moves.length && this.moves.state[moves[next]] < SUSPENDED) next++;
    const slept = next < moves.length ? this.moves.time[moves[next]] : this.end;
    return { start, end, used: Math.max(start, Math.min(end, slept)), limit: budget[0], left: budget[1] };
  }

  /** The record of a decision in full; null where the page has none. */
  record(i) {
    const evidence = this.evidence ??= this.unpackEvidence();
    if (!evidence) return null;
    const reader = new Reader(evidence.rows, evidence.starts[Math.floor(i / evidence.block)]);
    for (let row = i - (i % evidence.block); ; row++) {
      const [parts, places] = evidence.shapes[reader.next()];
      if (row < i) {
        for (const place of places) if (place !== '6') reader.next();
      } else {
        return JSON.parse(this.recordText(i, reader, parts, places, evidence));
      }
    }
  }

  recordText(i, reader, parts, places, evidence) {
    const quoted = text => '"' + text + '"';
    const values = {
      0: () => evidence.texts[reader.signed()],
      1: () => reader.signed(),
      2: () => quoted(timeText(this.time[i] - reader.signed())),
      3: () => quoted(idText('d', this.number[i] - reader.signed())),
      4: () => quoted(idText('e', this.event[i] - reader.signed())),
      5: () => quoted('x-' + reader.signed()),
      6: () => this.number[i],
    };
    let place = 0;
    return parts.map(part => (part ? evidence.fragments[part - 1] : values[places[place++]]())).join('');
  }

  unpackEvidence() {
    const { evidence } = this.json;
    if (!evidence) return null;
    const count = Math.ceil(this.count / evidence.block);
    const starts = plain(evidence.starts, count, Float64Array);
    for (let i = 1; i < count; i++) starts[i] += starts[i - 1];
    const { fragments, texts, shapes, block } = evidence;
    return { fragments, texts, shapes, block, starts, rows: bytesOf(evidence.rows) };
  }
}

// Texts of times, as the logs have them.

const two = number => String(number).padStart(2, '0');

/** `T+02:14:07`: whole seconds, cut. */
function shortTime(time) {
  const seconds = Math.floor(Math.max(0, time) / 1e9);
  return 'T+' + two(Math.floor(seconds / 3600)) + ':' + two(Math.floor(seconds / 60) % 60) + ':' + two(seconds % 60);
}

/** `T+02:14:07.250`, with six or nine digits where milliseconds do not say it all. */
function timeText(time) {
  let fraction = String(Math.round(Math.max(0, time)) % 1e9).padStart(9, '0');
  while (fraction.length > 3 && fraction.endsWith('000')) fraction = fraction.slice(0, -3);
  return shortTime(time) + '.' + fraction;
}

/** `T+02:14:07.250`, cut to milliseconds, for tables. */
const tableTime = time => timeText(Math.floor(time / 1e6) * 1e6);

/** `d-000412` */
const idText = (letter, number) => letter + '-' + String(number).padStart(6, '0');

/** A span as people say it: `1 h 4 min`, `12.5 s`, `340 ms`, `18 µs`. */
function spanText(span) {
  if (span < 0) return '−' + spanText(-span);
  const seconds = span / 1e9;
  if (seconds < 1e-6) return Math.round(span) + ' ns';
  if (seconds < 1e-3) return trimmed(span / 1e3) + ' µs';
  if (seconds < 1) return trimmed(span / 1e6) + ' ms';
  if (seconds < 60) return trimmed(seconds) + ' s';
  const whole = Math.round(seconds);
  if (whole < 3600) return Math.floor(whole / 60) + ' min' + (whole % 60 ? ' ' + (whole % 60) + ' s' : '');
  const minutes = Math.round(seconds / 60);
  return Math.floor(minutes / 60) + ' h' + (minutes % 60 ? ' ' + (minutes % 60) + ' min' : '');
}

const trimmed = number => String(+number.toPrecision(3));
const grouped = number => String(number).replace(/\B(?=(\d{3})+$)/g, '\u202f');

/** A new element with attributes, and what is in it. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(key, '');
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children);
  return made;
}

const byId = id => document.getElementById(id);
