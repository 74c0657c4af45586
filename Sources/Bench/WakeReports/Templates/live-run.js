// A run that goes on: what is told of it is added to its columns.

const WORDS = JSON.parse(document.querySelector('script.words').textContent);

/** A column with one number more. It has room for others behind it, so that most are not copied. */
function pushed(column, value) {
  const { length, constructor: Kind, BYTES_PER_ELEMENT: size } = column;
  const hasRoom = !column.byteOffset && column.buffer.byteLength >= (length + 1) * size;
  const longer = new Kind(hasRoom ? column.buffer : new ArrayBuffer(size * Math.ceil((length + 16) * 1.5)), 0, length + 1);
  if (!hasRoom) longer.set(column);
  longer[length] = value;
  return longer;
}

/** `T+02:14:07.250` in nanoseconds. */
function timeOf(text) {
  const [hours, minutes, seconds] = text.slice(2).split(':');
  const [whole, fraction = ''] = seconds.split('.');
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(whole)) * 1e9 + Number(fraction.padEnd(9, '0'));
}

const TERMINATED = 5;
const FORCE_QUIT = 6;

class LiveRun extends Run {
  /** The most records in full that are kept of what comes. */
  static mostRecords = 20000;

  constructor(json) {
    json.kinds = Object.fromEntries(
      Object.entries(WORDS.kinds).map(([kind, [mode, says]]) => [kind, { mode, device: says !== '', because: WORDS.because[mode] }])
    );
    super(json, 0);
    this.packed = this.count;
    this.records = new Map();
    this.placesOfTexts = new Map(this.texts.map((text, place) => [text, place + 1]));
    this.numbers = { whats: new Map(), rulings: new Map(), budgets: new Map() };
    for (const [name, known] of Object.entries(this.numbers)) json[name].forEach((each, place) => known.set(each.join('\n'), place));
    this.end = Math.max(json.end, 0);
  }

  record(i) {
    if (i < this.packed) return super.record(i);
    const text = this.records.get(i);
    return text ? JSON.parse(text) : null;
  }

  /** The place of an app, or a new one. */
  place(bundle) {
    const place = this.apps.indexOf(bundle);
    return place < 0 ? this.apps.push(bundle) - 1 : place;
  }

  /** The place of something among what is named once, or a new one. */
  known(name, each) {
    const known = this.numbers[name];
    const key = each.join('\n');
    if (!known.has(key)) known.set(key, this.json[name].push(each) - 1);
    return known.get(key);
  }

  /** Takes what was told, and says whether anything of it was news. */
  take(told) {
    if (told.type === 'decision') return this.takeDecision(told.record);
    if (told.type === 'state') return this.takeMove(told);
    if (told.type === 'row') return this.takeRow(told);
    return false;
  }

  takeDecision(record) {
    if (this.count && record.seq <= this.number[this.count - 1]) return false;
    const { event, app, budget } = record;
    const i = this.count++;
    const time = timeOf(record.t);
    const add = (name, value) => (this[name] = pushed(this[name], value));
    add('time', time);
    add('number', record.seq);
    add('event', Number(event.id.slice(2)));
    add('app', app ? this.place(app.bundle) : -1);
    add('what', this.known('whats', [event.source, event.kind, event.subject ?? '']));
    add('ruling', this.known('rulings', [record.verdict, record.reason, record.rule]));
    add('budget', budget ? this.known('budgets', [budget.limit_ms, budget.left_ms]) + 1 : 0);
    add('replaces', record.supersedes ? record.seq - Number(record.supersedes.slice(2)) : 0);
    add('verdict', VERDICTS.indexOf(record.verdict));
    add('differs', 0);
    add('outcomeOf', -1);
    add('value', this.placeOfValue(record));
    this.records.set(i, JSON.stringify(record));
    if (this.records.size > LiveRun.mostRecords) this.records.delete(this.records.keys().next().value);
    this.takeLink(event, time);
    this.end = Math.max(this.end, time);
    return true;
  }

  /** One more than the place of what came with its event among the texts. What is decided again has what was told before. */
  placeOfValue({ value, supersedes }) {
    if (value == null) {
      const before = supersedes ? this.find(Number(supersedes.slice(2))) : -1;
      return before < 0 ? 0 : this.value[before];
    }
    if (!this.placesOfTexts.has(value)) this.placesOfTexts.set(value, this.texts.push(value));
    return this.placesOfTexts.get(value);
  }

  takeLink({ kind, subject }, time) {
    const says = WORDS.kinds[kind]?.[1];
    const name = says && subject?.split('/')[0];
    if (!name) return;
    const { devices } = this.json;
    const device = devices.find(each => each.name === name) ?? devices[devices.push({ name, link: { bands: [] }, range: { bands: [] } }) - 1];
    if (says !== 'seen') band(device.link, time, says === 'connected' ? says : '');
  }

  takeMove({ at, app, to, cause, pid }) {
    const state = to === 'not-running' ? (cause === 'user-force-quit' ? FORCE_QUIT : TERMINATED) : STATES.indexOf(to);
    this.move(timeOf(at), this.place(app), state, pid);
    return true;
  }

  move(time, app, state, pid) {
    const add = (name, value) => (this.moves[name] = pushed(this.moves[name], value));
    add('time', time);
    add('app', app);
    add('state', state);
    add('pid', pid);
    this.end = Math.max(this.end, time);
  }

  takeRow({ at, app, what, reason, pid }) {
    const time = timeOf(at);
    const { acts, exits, deeds, notes } = this.json;
    const place = app && app !== '-' ? this.place(app) : -1;
    if (what === 'process ended') exits.push([time, place, '', reason, '', '', pid ? String(pid) : '', '']);
    else if (WORDS.acts.includes(what)) this.takeAct(time, place, what);
    else if (place >= 0) deeds.push([time, place, what]);
    else notes.push([time, -1, what]);
    this.end = Math.max(this.end, time);
    return true;
  }

  takeAct(time, place, word) {
    this.json.acts.push([time, place, word, '', '']);
    if (place >= 0) {
      // An app without a process can be force-quit, too.
      const last = this.moves.app.lastIndexOf(place);
      const isRunning = last >= 0 && this.moves.state[last] && this.moves.state[last] < TERMINATED;
      if (word === 'force quit' && !isRunning) this.move(time, place, FORCE_QUIT, 0);
      return;
    }
    const [row, state] = word === 'lock' ? ['lock', 'locked'] : word === 'unlock' ? ['lock', ''] : WORDS.phone[word] ?? [];
    if (!row) return;
    const { phoneRows } = this.json;
    const track = phoneRows.find(each => each.name === row) ?? phoneRows[phoneRows.push({ name: row, bands: [] }) - 1];
    band(track, time, state);
  }

  /** Puts all that has come together anew. */
  settle() {
    this.group();
    [this.replacements, this.searchTable, this.all] = [null, null, null];
  }
}

/** Says a state of a track where it is news. */
function band(track, time, state) {
  if ((track.bands.at(-1)?.[1] ?? '') !== state) track.bands.push([time, state]);
}
