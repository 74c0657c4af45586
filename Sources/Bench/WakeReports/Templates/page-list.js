// What stands below the timeline: the search, the list of all decisions, and the other lists.

/** The search: its words, and for each run which decisions it finds. */
const finding = { text: '', matches: null, order: null, count: 0 };

/** `app:heart verdict:deny "peripheral connected" -rule:BLE-2`: words with what they are about, or '' for anything. */
function readWords(text) {
  const found = [];
  for (const [, not, key, quoted, bare] of text.matchAll(/(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/gi)) {
    const known = key && (key.toLowerCase() in FIELDS || key.toLowerCase() === 'is');
    const word = (known || !key ? '' : key + ':') + (quoted ?? bare);
    if (word) found.push({ not: not === '-', key: known ? key.toLowerCase() : '', word: word.toLowerCase() });
  }
  return found;
}

/** What the words of a search may be about. */
const FIELDS = {
  app: (run, table) => table.apps, event: (run, table) => table.kinds, kind: (run, table) => table.kinds, source: (run, table) => table.sources,
  subject: (run, table) => table.subjects, verdict: (run, table) => table.verdicts, reason: (run, table) => table.reasons, rule: (run, table) => table.rules,
  value: (run, table) => table.values,
};

/** The texts of a run in which a search looks, in small letters, by the tables of its columns. */
function searchTable(run) {
  const low = text => text.toLowerCase();
  const { whats, rulings } = run.json;
  const apps = [...run.apps.map(app => low(app === run.shortName(app) ? app : app + ' ' + run.shortName(app))), 'nobody'];
  return {
    apps: { of: i => (run.app[i] < 0 ? apps.length - 1 : run.app[i]), texts: apps },
    sources: { of: i => run.what[i], texts: whats.map(what => low(what[0])) },
    kinds: { of: i => run.what[i], texts: whats.map(what => low(what[1])) },
    subjects: { of: i => run.what[i], texts: whats.map(what => low(what[2])) },
    whats: { of: i => run.what[i], texts: whats.map(what => low(what.join(' '))) },
    verdicts: { of: i => run.ruling[i], texts: rulings.map(ruling => low(ruling[0])) },
    reasons: { of: i => run.ruling[i], texts: rulings.map(ruling => low(ruling[1])) },
    rules: { of: i => run.ruling[i], texts: rulings.map(ruling => low(ruling[2])) },
    rulings: { of: i => run.ruling[i], texts: rulings.map(ruling => low(ruling.join(' '))) },
    values: { of: i => run.value[i], texts: ['', ...run.texts.map(low)] },
  };
}

/** Whether a decision has a word, as a function of its position. */
function tester(run, { key, word }) {
  const table = run.searchTable ??= searchTable(run);
  const of = column => {
    // What has the word as its whole name is meant, where there is such a thing: app:belt.1 is not belt.10.
    const isName = text => text.split(' ').includes(word);
    const isWhole = key && column.texts.some(isName);
    const isIn = text => (isWhole ? isName(text) : column === table.verdicts ? text.startsWith(word) : text.includes(word));
    const has = Uint8Array.from(column.texts, text => (isIn(text) ? 1 : 0));
    return i => has[column.of(i)];
  };
  if (key === 'is') return word === 'differing' ? i => run.differs[i] : word === 'delivered' ? i => run.verdict[i] < FIRST_REFUSAL ? 1 : 0 : i => 0;
  if (key) return of(FIELDS[key](run, table));
  const id = /^([de])-0*(\d+)$/.exec(word);
  if (id) return i => ((id[1] === 'd' ? run.number[i] : run.event[i]) === Number(id[2]) ? 1 : 0);
  const [apps, whats, rulings, values] = ['apps', 'whats', 'rulings', 'values'].map(name => of(table[name]));
  return i => apps(i) | whats(i) | rulings(i) | values(i);
}

/** Searches all decisions; an empty text finds nothing and shows all. */
function find(text) {
  finding.text = text.trim();
  search();
  page.list.show(finding.order);
  tellFound();
  schedule();
}

function search() {
  const words = readWords(finding.text);
  finding.matches = words.length ? page.runs.map(run => matching(run, words)) : null;
  const all = page.order;
  finding.order = finding.matches ? all.filter(each => matchAt(each)) : all;
  finding.count = finding.matches ? finding.order.length : 0;
}

function matching(run, words) {
  const matches = new Uint8Array(run.count).fill(1);
  for (const word of words) {
    const has = tester(run, word);
    for (let i = 0; i < run.count; i++) if (matches[i]) matches[i] = has(i) ? (word.not ? 0 : 1) : word.not ? 1 : 0;
  }
  return matches;
}

/** Says how many there are, and which of them is chosen. */
function tellFound() {
  const found = byId('found');
  if (!finding.matches) return void (found.textContent = `${grouped(page.order.length)} decisions`);
  const place = chosen && chosenMatches() ? placeInOrder() + 1 : 0;
  found.textContent = (place ? `${grouped(place)} of ` : '') + `${grouped(finding.count)} found`;
}

const chosenMatches = () => finding.matches[chosen.run.index][chosen.i];

/** Chooses the next match, or the one before: from what is chosen, or from the left of what is seen. */
function step(by) {
  const { order } = finding;
  if (!order.length) return;
  let place = chosen ? placeInOrder() : lowerPlace(view.from) - (by > 0 ? 1 : 0);
  if (chosen && (!finding.matches || chosenMatches())) place += by;
  else if (chosen) place += by > 0 ? 0 : -1;
  else place += by > 0 ? 1 : 0;
  choose(decisionAt(order[(place + order.length) % order.length]), { show: true });
}

// One order for the decisions of all runs: by time, and by run where they are equal. A decision is its position, those of the second
// run after all of the first.

function orderOf(runs) {
  const total = runs.reduce((sum, run) => sum + run.count, 0);
  const order = new Uint32Array(total);
  const next = runs.map(() => 0);
  for (let place = 0; place < total; place++) {
    let least = -1;
    for (const run of runs) {
      if (next[run.index] === run.count) continue;
      if (least < 0 || run.time[next[run.index]] < runs[least].time[next[least]]) least = run.index;
    }
    order[place] = next[least]++ + (least ? runs[0].count : 0);
  }
  return order;
}

function decisionAt(each) {
  const first = page.runs[0];
  return each < first.count ? { run: first, i: each } : { run: page.runs[1], i: each - first.count };
}

const numberOf = ({ run, i }) => i + (run.index ? page.runs[0].count : 0);

function matchAt(each) {
  const { run, i } = decisionAt(each);
  return finding.matches[run.index][i];
}

/** The place of the chosen decision in what is listed, or that of the first after it. */
function placeInOrder() {
  const wanted = numberOf(chosen);
  let place = lowerPlace(chosen.run.time[chosen.i]);
  const { order } = finding;
  while (place < order.length && order[place] !== wanted && timeAtPlace(place) === chosen.run.time[chosen.i]) place++;
  return place;
}

function timeAtPlace(place) {
  const { run, i } = decisionAt(finding.order[place]);
  return run.time[i];
}

function lowerPlace(time) {
  let [low, high] = [0, finding.order.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (timeAtPlace(middle) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * A list of any length, of which only the lines that are seen are in the document.
 *
 * `columns` are a heading and a width each; `fill(item, place)` gives the cells of a line, its class, and whether it is chosen;
 * `pick(item)` is what a click does.
 */
class VirtualList {
  constructor(pane, label, columns, fill, pick) {
    Object.assign(this, { fill, pick, items: [], lineHeight: 24, cursor: -1, isAtEnd: false });
    this.root = element('div', { class: 'list', role: 'table', 'aria-label': label });
    this.root.style.setProperty('--columns', columns.map(column => column[1]).join(' '));
    const head = element('div', { class: 'head', role: 'row' }, ...columns.map(column => element('span', { role: 'columnheader' }, column[0])));
    this.body = element('div', { class: 'body', role: 'rowgroup', tabindex: '0', 'aria-label': label });
    this.sizer = element('div');
    this.body.append(this.sizer);
    this.root.append(head, this.body);
    pane.replaceChildren(this.root);
    this.body.addEventListener('scroll', () => {
      this.isAtEnd = this.body.scrollTop > 0 && this.body.scrollTop >= this.height - this.body.clientHeight - this.lineHeight;
      this.draw();
    });
    this.body.addEventListener('keydown', event => this.key(event));
    this.body.addEventListener('click', event => {
      const line = event.target.closest('.line');
      if (line) this.go(Number(line.dataset.place));
    });
  }

  show(items) {
    this.items = items;
    this.cursor = -1;
    this.root.setAttribute('aria-rowcount', items.length + 1);
    this.body.scrollTop = 0;
    this.draw();
  }

  /** Takes more items, and stays where it is, or at its end where that is in sight. */
  extend(items) {
    this.items = items;
    this.root.setAttribute('aria-rowcount', items.length + 1);
    this.sizer.style.height = this.height + 'px';
    if (this.isAtEnd) this.body.scrollTop = this.height;
    this.draw();
  }

  /** No element is higher than browsers can draw: beyond that a pixel is more than a line. */
  get full() { return this.items.length * this.lineHeight; }
  get height() { return Math.min(this.full, 8e6); }

  draw() {
    const seen = this.body.clientHeight;
    if (!seen) return;
    this.sizer.style.height = this.height + 'px';
    const { scrollTop } = this.body;
    const most = Math.max(1, this.height - seen);
    const offset = this.full > this.height ? scrollTop / most * (this.full - seen) : scrollTop;
    const first = Math.max(0, Math.floor(offset / this.lineHeight) - 2);
    const last = Math.min(this.items.length, first + Math.ceil(seen / this.lineHeight) + 4);
    const lines = [];
    for (let place = first; place < last; place++) {
      const { cells, kind, isChosen } = this.fill(this.items[place], place);
      const line = element('div', { class: 'line ' + (kind ?? ''), role: 'row', 'aria-rowindex': place + 2, 'aria-selected': String(!!isChosen), 'data-place': place });
      for (const cell of cells) line.append(cell instanceof Node ? cell : element('span', { role: 'cell', title: cell }, cell));
      line.style.top = scrollTop + place * this.lineHeight - offset + 'px';
      lines.push(line);
    }
    if (!this.items.length) lines.push(element('p', { class: 'empty' }, 'Nothing is found.'));
    this.body.replaceChildren(this.sizer, ...lines);
  }

  /** Brings a line into sight. */
  reveal(place) {
    this.cursor = place;
    const seen = this.body.clientHeight;
    const offset = place * this.lineHeight;
    const most = Math.max(1, this.full - seen);
    const now = this.full > this.height ? this.body.scrollTop / Math.max(1, this.height - seen) * most : this.body.scrollTop;
    if (offset < now || offset > now + seen - this.lineHeight) {
      const wanted = Math.max(0, offset - seen / 2);
      this.body.scrollTop = this.full > this.height ? wanted / most * (this.height - seen) : wanted;
    }
    this.draw();
  }

  go(place) {
    if (place < 0 || place >= this.items.length) return;
    this.cursor = place;
    this.pick(this.items[place]);
    this.reveal(place);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.body.clientHeight / this.lineHeight) - 1);
    const to = { ArrowDown: this.cursor + 1, ArrowUp: this.cursor - 1, PageDown: this.cursor + page, PageUp: this.cursor - page, Home: 0, End: this.items.length - 1 }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    this.go(Math.min(Math.max(0, to), this.items.length - 1));
  }
}

/** The mark of a run where there are two. */
function letterOf(run) {
  return element('span', { class: 'letter ' + (run.index ? 'b' : ''), role: 'cell', title: run.title }, run.letter);
}

function decisionList() {
  const several = page.runs.length > 1;
  const hasOutcomes = page.runs.some(run => run.json.outcomes.count);
  const hasValues = page.isLive || page.runs.some(run => run.json.values.count);
  const columns = [
    ...(several ? [['', '22px']] : []), ['Time', '122px'], ['App', 'minmax(80px, 1fr)'], ['Event', 'minmax(120px, 2fr)'],
    ['Verdict', '146px'], ['Reason', 'minmax(80px, 1fr)'], ['Rule', '76px'], ...(hasValues ? [['Value', 'minmax(60px, .7fr)']] : []), ...(hasOutcomes ? [['Outcome', 'minmax(90px, 1fr)']] : []),
  ];
  return new VirtualList(byId('decisions'), 'Decisions', columns, each => {
    const { run, i } = decisionAt(each);
    const verdict = element('span', { role: 'cell' }, verdictSign(run.verdict[i]), ' ' + VERDICTS[run.verdict[i]]);
    const app = run.appOf(i);
    const cells = [
      ...(several ? [letterOf(run)] : []), tableTime(run.time[i]), app ? run.shortName(app) : 'nobody', run.happening(i), verdict,
      run.reasonOf(i), run.ruleOf(i), ...(hasValues ? [run.valueOf(i)] : []), ...(hasOutcomes ? [outcomeWords(run, i)] : []),
    ];
    const kind = run.differs[i] ? 'differs' : finding.matches ? 'match' : '';
    return { cells, kind, isChosen: chosen?.run === run && chosen.i === i };
  }, each => choose(decisionAt(each), { show: true, list: false }));
}

function exitList() {
  const several = page.runs.length > 1;
  const items = page.runs.flatMap(run => run.json.exits.map(exit => ({ run, exit }))).sort((a, b) => a.exit[0] - b.exit[0]);
  const columns = [
    ...(several ? [['', '22px']] : []), ['Time', '122px'], ['App', 'minmax(90px, 1fr)'], ['Id', '60px'], ['Cause', '120px'], ['Code', '90px'],
    ['State', '90px'], ['Pid', '60px'], ['', 'minmax(120px, 2fr)'],
  ];
  const list = new VirtualList(byId('exits'), 'Ends of processes', columns, ({ run, exit: [time, app, ...words] }) => ({
    cells: [...(several ? [letterOf(run)] : []), tableTime(time), run.shortName(run.apps[app]), ...words],
  }), ({ exit }) => view.set(exit[0] - view.span() / 2, exit[0] + view.span() / 2));
  list.items = items;
  return list;
}

function changeList(comparison) {
  const columns = [['Time', '122px'], ['App', 'minmax(90px, 1fr)'], ['Event', 'minmax(120px, 1.5fr)'], ['A', 'minmax(120px, 1.3fr)'], ['B', 'minmax(120px, 1.3fr)']];
  const pane = byId('changes');
  const list = new VirtualList(pane, 'What differs', columns, ([time, app, event, number, first, second, one, other]) => ({
    cells: [tableTime(time), page.runs[one ? 0 : 1].shortName(app), number === '1' ? event : `${event} #${number}`, first || 'no such event', second || 'no such event'],
    kind: 'differs',
    isChosen: chosen && (chosen.run.index ? other : one) === chosen.run.number[chosen.i],
  }), ([, , , , , , one, other]) => {
    const run = page.runs[one ? 0 : 1];
    choose({ run, i: run.find(one || other) }, { show: true });
  });
  const counts = `${grouped(comparison.changes.length)} of ${grouped(comparison.events)} events came to something else in B.`;
  const summary = ` wakebench compare says: ${comparison.said[comparison.said.length - 1]}`;
  list.root.prepend(element('p', { class: 'soft said', title: comparison.said.join('\n') }, counts, summary));
  list.items = comparison.changes;
  return list;
}

// A span that was selected

/** How long each app was in each state in a span, in nanoseconds. */
function stateTimes(run, app, { from, to }) {
  const moves = run.movesOfApp.of(app);
  const times = new Float64Array(STATES.length);
  let [time, state] = [from, 0];
  const end = Math.min(to, run.end);
  let place = firstFrom(run.moves.time, moves, from + 1);
  if (place > 0) state = run.moves.state[moves[place - 1]];
  for (; place < moves.length && run.moves.time[moves[place]] < end; place++) {
    times[state] += Math.max(0, run.moves.time[moves[place]] - time);
    [time, state] = [run.moves.time[moves[place]], run.moves.state[moves[place]]];
  }
  times[state] += Math.max(0, end - Math.max(time, 0));
  return times;
}

function decisionCounts(run, positions, { from, to }) {
  const counts = new Uint32Array(VERDICTS.length);
  const last = firstFrom(run.time, positions, to);
  for (let place = firstFrom(run.time, positions, from); place < last; place++) counts[run.verdict[positions[place]]]++;
  return counts;
}

/** The table of a span: a line an app, with how long it was in each state and what was decided about it. */
function showSpan() {
  const pane = byId('span');
  if (!spanned) return pane.replaceChildren(element('p', { class: 'soft' }, 'Hold Shift and drag over the timeline to select a span.'));
  const within = { from: Math.max(0, spanned.from), to: spanned.to };
  const parts = [element('p', {}, element('strong', {}, spanText(spanned.to - spanned.from)), ` from ${timeText(spanned.from)} to ${timeText(spanned.to)}`)];
  for (const run of page.runs) {
    const rows = run.apps.map((app, place) => ({ app, times: stateTimes(run, place, within), counts: decisionCounts(run, run.ofApp.of(place), within) }));
    const counts = decisionCounts(run, run.all ??= Uint32Array.from({ length: run.count }, (_, i) => i), within);
    const states = STATES.map((_, state) => state).filter(state => rows.some(row => row.times[state] > 0));
    const verdicts = VERDICTS.map((_, verdict) => verdict).filter(verdict => counts[verdict]);
    const number = text => element('td', { class: 'number' }, text);
    const head = element('tr', {}, element('th', {}, run.several ? `App (run ${run.letter})` : 'App'),
      ...states.map(state => element('th', {}, swatch(STATES[state]), STATES[state])),
      ...verdicts.map(verdict => element('th', {}, verdictSign(verdict), ' ' + VERDICTS[verdict])));
    const lines = rows.filter(row => row.counts.some(Boolean) || row.times.some((time, state) => time && state)).map(row => element('tr', {},
      element('td', { title: row.app }, run.shortName(row.app)),
      ...states.map(state => number(row.times[state] ? spanText(row.times[state]) : '')),
      ...verdicts.map(verdict => number(row.counts[verdict] ? grouped(row.counts[verdict]) : ''))));
    const all = element('tr', {}, element('th', {}, 'all decisions'), ...states.map(() => element('td')), ...verdicts.map(verdict => number(grouped(counts[verdict]))));
    parts.push(element('table', {}, element('thead', {}, head), element('tbody', {}, ...lines, all)));
  }
  pane.replaceChildren(...parts);
}

const swatch = state => {
  const made = element('span', { class: 'swatch' });
  made.style.background = `var(--${state}, transparent)`;
  return made;
};
