// The rows of the timeline, from top to bottom: what stands in each, how it is drawn, and what is under the pointer.

const HEIGHTS = { group: 26, app: 34, wakes: 24, callbacks: 20, device: 24, source: 22, phone: 20, notes: 20 };
/** States of the phone that are no more than usual. */
const QUIET = new Set(['off', 'on battery', 'joined', 'none']);
const MANY_DEVICES = 8;
const FEW_APPS = 6;

/**
 * A row: `id` for what is folded, `label`, `kind` for its height and name, `draw(pen, y)`, and `under(x, dy)`, which says what is
 * there: lines of text, and a decision or none.
 */
function groupRow(id, label, count, row = {}) {
  return { id, label, kind: 'group', height: HEIGHTS.group, folds: true, count, draw() {}, under: () => null, ...row };
}

/** All rows, those of folded groups and apps too, each with what it is `within`. */
function allRows(runs) {
  return [...phoneRows(runs), ...sourceRows(runs), ...deviceRows(runs), ...appRows(runs)];
}

/** The rows of several runs that have the same key, one below the other. */
function side(runs, itemsOf, keyOf, make) {
  const byKey = new Map();
  for (const run of runs) {
    for (const item of itemsOf(run)) {
      const key = keyOf(item);
      if (!byKey.has(key)) byKey.set(key, []);
      byKey.get(key).push(make(run, item, key));
    }
  }
  return [...byKey.values()].flat(2);
}

// The phone

function phoneRows(runs) {
  const within = ['phone'];
  const marks = runs.filter(run => run.json.notes.length || run.json.acts.some(act => act[1] < 0))
    .map(run => ({ ...noteRow(run), within }));
  const tracks = side(runs, run => run.json.phoneRows, track => track.name, (run, track) => ({
    id: `phone ${track.name} ${run.letter}`, label: track.name, kind: 'sub', height: HEIGHTS.phone, within, run,
    draw: (pen, y) => bandRow(pen, y, HEIGHTS.phone, track.bands, state => pen.colours[QUIET.has(state) ? 'rule' : 'phone'], run.end),
    under: x => underBand(track, x, run.end),
  }));
  const failed = runs.filter(run => run.json.failures.length).map(run => ({ ...failureRow(run), within }));
  const rows = [...failed, ...marks, ...tracks];
  return rows.length ? [groupRow('phone', 'Phone', rows.length), ...rows] : [];
}

/** What the user and the phone did, and the notes of the scenario. */
function noteRow(run) {
  const entries = [
    ...run.json.notes.map(([time, app, text]) => ({ time, text, app, sign: 'flag' })),
    ...run.json.acts.filter(act => act[1] < 0).map(([time, app, text, origin]) => ({ time, text, app, origin, sign: 'act' })),
  ].sort((a, b) => a.time - b.time);
  return {
    id: 'notes ' + run.letter, label: 'user and notes', kind: 'sub', height: HEIGHTS.notes, run,
    draw: (pen, y) => pen.signs(entries, y + HEIGHTS.notes / 2, true),
    under: x => underEntry(entries, x, run),
  };
}

/** When expectations were missed, and when the run ended before its time. */
function failureRow(run) {
  const entries = run.json.failures.map(([time, app, text, origin]) => ({ time, text, app, origin, sign: 'quit' }));
  return {
    id: 'failures ' + run.letter, label: 'not met', kind: 'sub', height: HEIGHTS.notes, run, count: entries.length,
    draw: (pen, y) => pen.signs(entries, y + HEIGHTS.notes / 2, true),
    under: x => underEntry(entries, x, run),
  };
}

// Sources and devices

function sourceRows(runs) {
  const within = ['sources'];
  const rows = side(runs, run => run.sources.map((name, place) => ({ name, place })), source => source.name, (run, source) => {
    const positions = run.ofSource.of(source.place);
    return decisionRow(`source ${source.name} ${run.letter}`, source.name, HEIGHTS.source, run, positions, within);
  });
  const all = runs.map(run => {
    const positions = Uint32Array.from({ length: run.count }, (_, i) => i);
    return decisionRow('all ' + run.letter, 'all decisions', HEIGHTS.source, run, positions, within);
  });
  return [groupRow('sources', 'Sources', rows.length + all.length), ...rows, ...all];
}

function decisionRow(id, label, height, run, positions, within) {
  return {
    id, label, kind: 'sub', height, run, within, count: positions.length,
    draw: (pen, y) => pen.decisions(run, positions, y + 2, height - 5),
    under: x => underDecision(run, positions, x),
  };
}

function deviceRows(runs) {
  const within = ['devices'];
  const rows = side(runs, run => run.json.devices.map((device, place) => ({ device, place })), each => each.device.name, (run, { device, place }) => {
    const positions = run.ofDevice.of(place);
    return {
      id: `device ${device.name} ${run.letter}`, label: device.name, kind: 'sub', height: HEIGHTS.device, run, within, count: positions.length,
      draw(pen, y) {
        bandRow(pen, y, HEIGHTS.device, device.range.bands, state => state === 'in range' && pen.colours['in-range'], run.end, false);
        bandRow(pen, y + 13, 9, device.link.bands, () => pen.colours.connected, run.end);
        pen.decisions(run, positions, y + 1, 12);
      },
      under: (x, dy) => (dy < 13 && underDecision(run, positions, x)) || underBand({ name: 'link', bands: device.link.bands }, x, run.end)
        || underBand({ name: 'range', bands: device.range.bands }, x, run.end),
    };
  });
  return rows.length ? [groupRow('devices', 'Devices', rows.length), ...rows] : [];
}

// Apps

function appRows(runs) {
  const rows = side(runs, run => run.apps.map((bundle, app) => ({ bundle, app })), each => each.bundle, appGroup);
  const count = rows.filter(row => row.kind === 'app').length;
  return count ? [groupRow('apps', 'Apps', count), ...rows] : [];
}

function appGroup(run, { bundle, app }) {
  const positions = run.ofApp.of(app);
  const moves = run.movesOfApp.of(app);
  const [acts, exits, deeds] = ['acts', 'exits', 'deeds'].map(name => run.json[name].filter(entry => entry[1] === app));
  const quits = new Set(acts.filter(act => act[2] === 'force quit').map(act => act[0]));
  const entries = [
    ...acts.map(([time, , text, origin]) => ({ time, text, origin, app, sign: text === 'force quit' ? 'quit' : 'act' })),
    ...exits.filter(exit => exit[3] !== 'user-force-quit' || !quits.has(exit[0]))
      .map(exit => ({ time: exit[0], text: `process ended: ${exit[3]}${exit[2] ? ` (${exit[2]})` : ''}`, app, sign: exit[3] === 'user-force-quit' ? 'quit' : 'end' })),
    ...deeds.map(([time, , text]) => ({ time, text, app, sign: 'deed' })),
  ].sort((a, b) => a.time - b.time);
  const id = `app ${bundle}`;
  const shared = { run, within: ['apps', id] };
  const rows = [{
    id, label: run.shortName(bundle), title: bundle, kind: 'app', height: HEIGHTS.app, folds: true, run, within: ['apps'], count: positions.length,
    draw(pen, y) {
      pen.states(run, moves, y + 21, 10);
      pen.decisions(run, positions, y + 2, 17);
      pen.signs(entries, y + 26, false);
    },
    under: (x, dy) => (dy < 20 ? underDecision(run, positions, x) : underEntry(entries, x, run)) || underState(run, moves, x) || underDecision(run, positions, x),
  }];
  const wakes = positions.filter(i => run.verdict[i] < FIRST_REFUSAL && run.budget[i]);
  if (wakes.length) {
    rows.push({
      ...shared, id: id + ' wakes ' + run.letter, label: 'wakes, budget left', kind: 'sub', height: HEIGHTS.wakes,
      draw: (pen, y) => pen.wakes(run, wakes, y + 3, HEIGHTS.wakes - 7),
      under: x => underWake(run, wakes, x),
    });
  }
  const calls = run.callsOfApp.of(app);
  if (calls.length) {
    rows.push({
      ...shared, id: id + ' callbacks ' + run.letter, label: 'callbacks', kind: 'sub', height: HEIGHTS.callbacks,
      draw: (pen, y) => pen.callbacks(run, calls, y + 3, HEIGHTS.callbacks - 7),
      under: x => underCall(run, calls, x),
    });
  }
  const posts = signposts(run, app);
  if (posts.length) {
    rows.push({
      ...shared, id: id + ' signposts ' + run.letter, label: 'signposts', kind: 'sub', height: HEIGHTS.callbacks,
      draw: (pen, y) => pen.spans(posts, y + 3, HEIGHTS.callbacks - 7),
      under: x => underSpan(posts, x),
    });
  }
  return rows;
}

/** What an app marked by os_signpost: spans, and events without a length. */
function signposts(run, app) {
  const open = new Map();
  const spans = [];
  for (const [time, of, mark, text, key] of run.json.signposts) {
    if (of !== app) continue;
    if (mark === 'begin') open.set(key, { start: time, end: run.end, text });
    if (mark === 'event') spans.push({ start: time, end: time, text });
    if (mark === 'end' && open.has(key)) {
      spans.push({ ...open.get(key), end: time });
      open.delete(key);
    }
  }
  return [...spans, ...open.values()].sort((a, b) => a.start - b.start);
}

// What is under the pointer

const REACH = 7;

function bandRow(pen, y, height, bands, colourOf, end, named = true) {
  bands.forEach(([start, state], place) => {
    const colour = state && colourOf(state);
    if (colour) pen.band(start, bands[place + 1]?.[0] ?? end, y + 2, height - 5, colour, named ? state : '');
  });
}

function underBand(track, x, end) {
  const time = view.timeAt(x);
  const place = track.bands.findLastIndex(band => band[0] <= time);
  if (place < 0 || time > end || !track.bands[place][1]) return null;
  const until = track.bands[place + 1]?.[0] ?? end;
  return { lines: [`${track.name}: ${track.bands[place][1]}`, lasting(track.bands[place][0], until)] };
}

const lasting = (start, end) => `${timeText(start)} to ${timeText(end)}, ${spanText(end - start)}`;

/** The nearest of sorted times within reach of the pointer; -1 for none. */
function nearest(count, timeOf, x) {
  let low = 0;
  let high = count;
  const time = view.timeAt(x);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeOf(middle) < time) low = middle + 1;
    else high = middle;
  }
  const distance = place => (place >= 0 && place < count ? Math.abs(view.x(timeOf(place)) - x) : Infinity);
  const best = distance(low - 1) < distance(low) ? low - 1 : low;
  return distance(best) <= REACH ? best : -1;
}

function underEntry(entries, x, run) {
  const place = nearest(entries.length, each => entries[each].time, x);
  if (place < 0) return null;
  const { time, text, app, origin } = entries[place];
  const who = app >= 0 ? run.apps[app] : '';
  return { lines: [text, [who, timeText(time), origin].filter(Boolean).join(' · ')] };
}

/** The decision under the pointer: of several a match of the search, then the nearest. */
function underDecision(run, positions, x) {
  const place = nearest(positions.length, each => run.time[positions[each]], x);
  if (place < 0) return null;
  let i = positions[place];
  const here = positions.subarray(firstFrom(run.time, positions, view.timeAt(x - 2)), firstFrom(run.time, positions, view.timeAt(x + 2)));
  if (finding.matches && !finding.matches[run.index][i]) i = here.find(each => finding.matches[run.index][each]) ?? i;
  return { lines: decisionLines(run, i, here.length), decision: { run, i } };
}

function decisionLines(run, i, count) {
  const lines = [
    `${run.appOf(i) ?? 'nobody'}: ${run.happening(i)}`,
    `${VERDICTS[run.verdict[i]]}, ${run.reasonOf(i)} [${run.ruleOf(i)}]`,
    `${timeText(run.time[i])} · ${idText('d', run.number[i])}`,
  ];
  if (run.value[i] && !tellsValue(run, i)) lines.push('value ' + run.valueOf(i));
  const outcome = outcomeWords(run, i);
  if (outcome) lines.push(outcome);
  if (count > 1) lines.push(`${grouped(count)} decisions here; zoom in to tell them apart`);
  return lines;
}

function underState(run, moves, x) {
  const time = view.timeAt(x);
  const next = firstFrom(run.moves.time, moves, time + 1);
  if (time < 0 || time > run.end || !next) return null;
  const move = moves[next - 1];
  const until = next < moves.length ? run.moves.time[moves[next]] : run.end;
  const pid = run.moves.pid[move];
  return { lines: [STATES[run.moves.state[move]] + (pid ? `, pid ${pid}` : ''), lasting(run.moves.time[move], until)] };
}

function underWake(run, wakes, x) {
  const time = view.timeAt(x);
  const place = firstFrom(run.time, wakes, time + 1) - 1;
  const found = place >= 0 ? run.windowOf(wakes[place]) : null;
  if (!found || view.x(time) > view.x(found.end) + REACH) return null;
  const spent = spanText(found.used - found.start);
  return {
    lines: [
      `window of ${milliseconds(found.limit)}, ${milliseconds(found.left)} left at its start`,
      `${spent} of it used; ${lasting(found.start, found.end)}`,
    ],
    decision: { run, i: wakes[place] },
  };
}

function underCall(run, calls, x) {
  const place = nearest(calls.length, each => run.calls.time[calls[each]], x);
  if (place < 0) return null;
  const call = calls[place];
  const value = run.calls.value[call] ? ' ' + run.texts[run.calls.value[call] - 1] : '';
  return { lines: [run.texts[run.calls.name[call]] + value, timeText(run.calls.time[call])], decision: { run, i: run.calls.decision[call] } };
}

function underSpan(spans, x) {
  const time = view.timeAt(x);
  const found = spans.findLast(span => view.x(span.start) - 3 <= x && x <= Math.max(view.x(span.end), view.x(span.start) + 3));
  return found && time ? { lines: [found.text, lasting(found.start, found.end)] } : null;
}
