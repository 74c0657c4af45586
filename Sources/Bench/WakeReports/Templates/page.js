// The page: how its parts hang together, the pointer, the keys, and the address.

const page = { runs: [], rows: [], folded: new Set(), tabs: [], scroller: byId('scroller') };
/** The tab that opens where the address names none: what came of a run that failed. */
const firstTab = () => {
  const failed = page.runs.length === 1 && page.runs[0].json.failures.length;
  return (failed && page.tabs.find(tab => tab.name === 'run')) || page.tabs[0];
};
/** The decision that is chosen, as its run and its position; null for none. */
let chosen = null;
/** The span that is selected, from and to; null for none. */
let spanned = null;

const pens = { rows: new Pen(byId('rows')), axis: new Pen(byId('axis')), overview: new Pen(byId('overview')) };

// Theme

const theme = {
  /** What the user chose, or else what the system prefers. */
  name: 'light',
  asked: null,
  dark: matchMedia('(prefers-color-scheme: dark)'),
  apply(name = this.asked ?? (this.dark.matches ? 'dark' : 'light')) {
    this.name = name;
    document.documentElement.dataset.theme = name;
    for (const pen of Object.values(pens)) pen.takeColours();
    schedule();
  },
  toggle() {
    this.asked = this.name === 'dark' ? 'light' : 'dark';
    this.apply();
  },
};

// Drawing, at most once a frame

let isScheduled = false;

function schedule() {
  if (isScheduled || !page.list) return;
  isScheduled = true;
  requestAnimationFrame(() => {
    isScheduled = false;
    draw();
  });
}

function draw() {
  drawRows(pens.rows);
  drawAxis(pens.axis);
  drawOverview(pens.overview);
  placeNames();
  byId('viewed').textContent = `${spanText(view.span())} from ${shortTime(view.from)}`;
  tellAddress();
}

// Rows

/** Puts the rows that are not folded below each other. */
function layOut() {
  let y = 0;
  page.rows = page.all.filter(row => !(row.within ?? []).some(id => page.folded.has(id)));
  for (const row of page.rows) {
    row.y = y;
    y += row.height;
  }
  byId('sizer').style.height = y + 'px';
  schedule();
}

function placeNames() {
  const top = page.scroller.scrollTop;
  const height = pens.rows.height;
  const seen = page.rows.filter(row => row.y + row.height > top && row.y < top + height);
  const names = byId('names');
  const have = new Map([...names.children].map(name => [name.dataset.key, name]));
  for (const row of seen) {
    const key = row.id + ' ' + (row.run?.letter ?? '');
    const name = have.get(key) ?? names.appendChild(nameOf(row, key));
    have.delete(key);
    name.style.transform = `translateY(${row.y - top}px)`;
    if (row.count != null && name.lastChild.textContent !== grouped(row.count)) name.lastChild.textContent = grouped(row.count);
    if (row.folds) name.setAttribute('aria-expanded', String(!page.folded.has(row.id)));
  }
  for (const gone of have.values()) if (gone !== document.activeElement) gone.remove();
}

function nameOf(row, key) {
  const name = element(row.folds ? 'button' : 'div', { class: `name ${row.kind} ${row.folds ? 'folds' : ''}`, title: row.title ?? row.label, 'data-key': key });
  name.style.height = row.height + 'px';
  name.style.top = '0';
  if (row.folds) name.append(element('span', { class: 'arrow', 'aria-hidden': 'true' }, '▸'));
  if (row.run?.several) name.append(letterOf(row.run));
  name.append(element('span', { class: 'label' }, row.label));
  if (row.count != null) name.append(element('span', { class: 'count' }, grouped(row.count)));
  if (row.folds) name.addEventListener('click', () => fold(row.id));
  return name;
}

function fold(id) {
  if (!page.folded.delete(id)) page.folded.add(id);
  layOut();
}

/** Brings the row of a decision's app into sight. */
function showRow(run, i) {
  const title = run.appOf(i);
  if (!title) return;
  if (page.folded.delete('apps')) layOut();
  const row = page.rows.find(each => each.kind === 'app' && each.run === run && each.title === title);
  const { scrollTop, clientHeight } = page.scroller;
  if (row && (row.y < scrollTop || row.y + row.height > scrollTop + clientHeight)) page.scroller.scrollTop = row.y - clientHeight / 3;
}

// Choosing

/** Chooses a decision and says why it was made. */
function choose(decision, { show = false, list = true } = {}) {
  chosen = decision;
  const panel = byId('why');
  if (!decision) panel.replaceChildren(element('p', { class: 'soft' }, 'Choose a decision in the timeline or in the list to see why it was made.'));
  else {
    showWhy(panel, decision.run, decision.i);
    if (show) {
      view.show(decision.run.time[decision.i]);
      showRow(decision.run, decision.i);
    }
    if (list) showInList();
  }
  for (const tab of page.tabs) tab.list?.draw();
  tellFound();
  schedule();
}

function showInList() {
  const place = placeInOrder();
  if (finding.order[place] === numberOf(chosen)) page.list.reveal(place);
}

/** Chooses the decision about the same app that comes before or after. */
function stepInApp(by) {
  if (!chosen) return step(by);
  const { run, i } = chosen;
  const positions = run.app[i] < 0 ? null : run.ofApp.of(run.app[i]);
  const next = positions?.[positions.indexOf(i) + by];
  if (next !== undefined) choose({ run, i: next }, { show: true });
}

function select(span) {
  spanned = span;
  showSpan();
  if (span) openTab('span');
  schedule();
}

// Tabs

function openTab(name) {
  for (const tab of page.tabs) {
    const isOpen = tab.name === name;
    tab.button.setAttribute('aria-selected', String(isOpen));
    tab.button.tabIndex = isOpen ? 0 : -1;
    byId(tab.name).hidden = !isOpen;
    if (isOpen) tab.list?.draw();
  }
  page.tab = name;
  schedule();
}

function addTab(name, title, list) {
  const button = element('button', { type: 'button', role: 'tab', id: 'tab-' + name, 'aria-controls': name }, title);
  button.addEventListener('click', () => openTab(name));
  byId(name).setAttribute('aria-labelledby', button.id);
  byId('tabs').append(button);
  page.tabs.push({ name, button, list });
}

byId('tabs').addEventListener('keydown', event => {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!by) return;
  event.stopPropagation();
  const place = page.tabs.findIndex(tab => tab.name === page.tab);
  const next = page.tabs[(place + by + page.tabs.length) % page.tabs.length];
  openTab(next.name);
  next.button.focus();
});

// The pointer

function under(event) {
  const box = pens.rows.canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top + page.scroller.scrollTop];
  const row = page.rows.find(each => y >= each.y && y < each.y + each.height);
  return { x, found: row?.under(x, y - row.y) ?? null };
}

function showTip(event, found) {
  const tip = byId('tip');
  tip.hidden = !found;
  if (!found) return;
  tip.replaceChildren(element('strong', {}, found.lines[0]), ...found.lines.slice(1).map(line => '\n' + line));
  const { offsetWidth: width, offsetHeight: height } = tip;
  const x = event.clientX + 14 + width > innerWidth ? event.clientX - width - 10 : event.clientX + 14;
  const y = event.clientY + 16 + height > innerHeight ? event.clientY - height - 10 : event.clientY + 16;
  tip.style.transform = `translate(${Math.max(2, x)}px, ${Math.max(2, y)}px)`;
}

function listenToRows() {
  const { canvas } = pens.rows;
  let drag = null;
  canvas.addEventListener('wheel', event => {
    event.preventDefault();
    byId('tip').hidden = true;
    const unit = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? view.width : 1;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return view.pan((event.deltaX || event.deltaY) * unit);
    view.zoom(Math.exp(Math.min(Math.max(event.deltaY * unit, -240), 240) * .0022), event.offsetX);
  }, { passive: false });
  canvas.addEventListener('pointerdown', event => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    drag = { x: event.offsetX, startX: event.clientX, startY: event.clientY, y: event.clientY, from: view.timeAt(event.offsetX), selects: event.shiftKey, moved: false };
  });
  canvas.addEventListener('pointermove', event => {
    if (!drag) return showTip(event, under(event).found);
    if (Math.hypot(event.clientX - drag.startX, event.clientY - drag.startY) > 3 && !drag.moved) {
      drag.moved = true;
      byId('tip').hidden = true;
      canvas.classList.add(drag.selects ? 'selecting' : 'dragging');
    }
    if (!drag.moved) return;
    if (drag.selects) {
      const to = view.timeAt(event.offsetX);
      spanned = { from: Math.max(0, Math.min(drag.from, to)), to: Math.max(drag.from, to, 0) };
      schedule();
    } else {
      view.pan(drag.x - event.offsetX);
      page.scroller.scrollTop += drag.y - event.clientY;
    }
    [drag.x, drag.y] = [event.offsetX, event.clientY];
  });
  const end = event => {
    if (drag && !drag.moved && event.type === 'pointerup') {
      const { found } = under(event);
      if (found?.decision) choose(found.decision);
      else if (drag.selects || !found) select(null);
    } else if (drag?.moved && drag.selects) select(spanned);
    drag = null;
    canvas.classList.remove('selecting', 'dragging');
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', end);
  canvas.addEventListener('pointerleave', () => (byId('tip').hidden = true));
  canvas.addEventListener('dblclick', event => view.zoom(.3, event.offsetX));
  page.scroller.addEventListener('scroll', schedule);
}

/** Calls with each place while the pointer is held down on an element. */
function whileHeld(held, act) {
  held.addEventListener('pointerdown', event => {
    held.setPointerCapture(event.pointerId);
    act(event);
  });
  held.addEventListener('pointermove', event => held.hasPointerCapture(event.pointerId) && act(event));
}

function listenToTheRest() {
  whileHeld(byId('overview'), event => {
    const at = view.least + event.offsetX / pens.overview.width * (view.most - view.least);
    view.set(at - view.span() / 2, at + view.span() / 2);
  });
  byId('overview').addEventListener('wheel', event => {
    event.preventDefault();
    view.zoom(Math.exp(event.deltaY * .0022));
  }, { passive: false });
  whileHeld(byId('splitter'), event => setHeight(event.clientY - byId('bar').offsetHeight));
  byId('splitter').addEventListener('keydown', event => {
    const by = { ArrowUp: -24, ArrowDown: 24 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    setHeight(byId('timeline').offsetHeight + by);
  });
  const on = (id, act) => byId(id).addEventListener('click', act);
  on('in', () => view.zoom(.6));
  on('out', () => view.zoom(1 / .6));
  on('fit', () => view.fit());
  on('theme', () => theme.toggle());
  on('help', showKeys);
  on('copy', copyLink);
  on('next', () => step(1));
  on('previous', () => step(-1));
  byId('find').addEventListener('input', event => find(event.target.value));
  byId('search').addEventListener('submit', event => {
    event.preventDefault();
    step(1);
  });
  byId('find').addEventListener('keydown', event => {
    event.stopPropagation();
    if (event.key === 'Escape') page.scroller.focus();
    if (event.key === 'Enter' && event.shiftKey) {
      event.preventDefault();
      step(-1);
    }
  });
  new ResizeObserver(() => {
    schedule();
    for (const tab of page.tabs) tab.list?.draw();
  }).observe(document.body);
  new ResizeObserver(() => schedule()).observe(page.scroller);
  theme.dark.addEventListener('change', () => theme.apply());
  addEventListener('keydown', pressed);
  addEventListener('hashchange', readAddress);
  addEventListener('beforeprint', beginPrint);
  addEventListener('afterprint', endPrint);
}

function setHeight(height) {
  const most = innerHeight - byId('bar').offsetHeight - 100;
  document.body.style.setProperty('--timeline', Math.min(Math.max(height, 140), most) + 'px');
}

/** A sheet has room for the rows that are seen, as they are drawn: a canvas is not parted between sheets. */
const PRINTED = 520;
/** The height of the timeline while it is printed. */
let heightBefore = '';

function beginPrint() {
  heightBefore = document.body.style.getPropertyValue('--timeline');
  const rows = page.rows.reduce((sum, row) => sum + row.height, 0);
  document.body.style.setProperty('--timeline', Math.min(rows + 72, PRINTED) + 'px');
  theme.apply('light');
  draw();
}

function endPrint() {
  document.body.style.setProperty('--timeline', heightBefore);
  theme.apply();
}

async function copyLink() {
  tellAddress(true);
  const button = byId('copy');
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = 'Copied';
  } catch {
    prompt('The link to this view', location.href);
  }
  setTimeout(() => (button.textContent = 'Link'), 1500);
}

// The keys

const KEYS = [
  [['w', 'i'], 'zoom in', () => view.zoom(.7)], [['s', 'o'], 'zoom out', () => view.zoom(1 / .7)],
  [['a', 'ArrowLeft'], 'to the left', () => view.pan(-view.width * .15)], [['d', 'ArrowRight'], 'to the right', () => view.pan(view.width * .15)],
  [['ArrowUp'], 'rows up', () => (page.scroller.scrollTop -= 60)], [['ArrowDown'], 'rows down', () => (page.scroller.scrollTop += 60)],
  [['+', '='], 'zoom in a step', () => view.zoom(.6)], [['-'], 'zoom out a step', () => view.zoom(1 / .6)],
  [['f'], 'the whole run', () => view.fit()],
  [['z'], 'zoom to the selected span', () => spanned && view.set(spanned.from, spanned.to)],
  [['/'], 'search', () => byId('find').select()],
  [['n'], 'next match, or next decision', () => step(1)], [['p'], 'match before, or decision before', () => step(-1)],
  [['.'], 'next decision about the same app', () => stepInApp(1)], [[','], 'decision before about the same app', () => stepInApp(-1)],
  [['t'], 'dark or light', () => theme.toggle()],
  [['?'], 'these keys', () => showKeys()],
  [['Escape'], 'let go of the search, the span, then the decision', () => letGo()],
];

/** What a search may say. */
const SEARCHES = [
  ['belt resume', 'both words, anywhere in a decision'], ['verdict:deny', 'also app, event, subject, source, reason, rule and value'],
  ['-rule:LIFE-9', 'what does not have it'], ['"two words"', 'words with a space between them'], ['d-000412', 'a decision or, e-000398, an event'],
  ['is:delivered', 'also is:differing, of two runs'],
];

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || byId('keys').open) return;
  const name = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const found = KEYS.find(([names]) => names.includes(name));
  if (!found) return;
  event.preventDefault();
  found[2]();
}

function letGo() {
  if (finding.matches) {
    byId('find').value = '';
    find('');
  } else if (spanned) select(null);
  else choose(null);
}

function showKeys() {
  const dialog = byId('keys');
  if (!dialog.children.length) {
    const list = element('dl');
    const called = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc' };
    const add = (keys, text) => list.append(element('dt', {}, ...keys.flatMap(key => [element('kbd', {}, called[key] ?? key), ' '])), element('dd', {}, text));
    for (const [names, text] of KEYS) add(names, text);
    add(['wheel'], 'zoom around the pointer');
    add(['drag'], 'move');
    add(['Shift', 'drag'], 'select a span');
    add(['Shift', 'wheel'], 'to the sides');
    add(['click'], 'why a decision was made');
    const search = element('dl');
    for (const [example, text] of SEARCHES) search.append(element('dt', {}, element('kbd', {}, example)), element('dd', {}, text));
    const close = element('button', { type: 'button', autofocus: true }, 'Close');
    close.addEventListener('click', () => dialog.close());
    dialog.append(element('h2', { id: 'keys-title' }, 'Keys'), list, element('h2', {}, 'Search'), search, element('p', {}, close));
    dialog.addEventListener('click', event => event.target === dialog && dialog.close());
  }
  dialog.showModal();
}

// The address: what is seen, searched, selected and chosen stands in its fragment.

let toldAt = 0;
let isTelling = false;
let isReading = false;

/** Writes the fragment, not more often than browsers allow. */
function tellAddress(now = false) {
  if (isReading || page.isLive) return;
  if (!now && performance.now() - toldAt < 400) {
    if (!isTelling) setTimeout(() => { isTelling = false; tellAddress(true); }, 450);
    isTelling = true;
    return;
  }
  toldAt = performance.now();
  const parts = new URLSearchParams();
  parts.set('view', `${Math.round(view.from)},${Math.round(view.to)}`);
  if (finding.text) parts.set('find', finding.text);
  if (spanned) parts.set('span', `${Math.round(spanned.from)},${Math.round(spanned.to)}`);
  if (chosen) parts.set('decision', (chosen.run.several ? chosen.run.letter + ':' : '') + idText('d', chosen.run.number[chosen.i]));
  if (page.tab !== firstTab().name) parts.set('tab', page.tab);
  const fragment = '#' + parts;
  if (fragment !== location.hash) {
    try { history.replaceState(null, '', fragment); } catch { /* A page inside of another has no address of its own. */ }
  }
}

function readAddress() {
  isReading = true;
  const parts = new URLSearchParams(location.hash.slice(1));
  const pair = name => {
    const numbers = (parts.get(name) ?? '').split(',').map(Number);
    return numbers.length === 2 && numbers.every(Number.isFinite) && numbers[0] < numbers[1] ? numbers : null;
  };
  const seen = pair('view');
  if (seen) view.set(...seen);
  else view.fit();
  byId('find').value = parts.get('find') ?? '';
  find(byId('find').value);
  const span = pair('span');
  spanned = span && { from: span[0], to: span[1] };
  showSpan();
  const wanted = /^(?:([AB]):)?d-0*(\d+)$/.exec(parts.get('decision') ?? '');
  const run = wanted && page.runs['AB'.indexOf(wanted[1] ?? 'A')];
  const i = run ? run.find(Number(wanted[2])) : -1;
  const tab = page.tabs.find(each => each.name === parts.get('tab')) ?? firstTab();
  openTab(tab.name);
  choose(i >= 0 ? { run, i } : null);
  if (i >= 0) showRow(run, i);
  isReading = false;
}

// The start

function showLegend() {
  const legend = byId('legend');
  legend.replaceChildren();
  VERDICTS.forEach((name, verdict) => {
    const count = page.runs.reduce((sum, run) => sum + run.counts[verdict], 0);
    if (!count) return;
    const button = element('button', { type: 'button', title: `Search verdict:${name}` }, verdictSign(verdict), element('b', {}, grouped(count)), name);
    button.addEventListener('click', () => {
      byId('find').value = 'verdict:' + name;
      find(byId('find').value);
      openTab('decisions');
    });
    legend.append(element('li', {}, button));
  });
}

function showBands() {
  const bands = ['active', 'inactive', 'background', 'suspended', 'force-quit'];
  byId('bands').append(...bands.map(state => element('li', {}, swatch(state), state)));
}

function markDifferences(comparison) {
  for (const change of comparison.changes) {
    page.runs.forEach((run, place) => {
      const number = change[6 + place];
      const i = number ? run.find(number) : -1;
      if (i >= 0) run.differs[i] = 1;
    });
  }
}

function foldWhatIsMany() {
  const devices = page.all.filter(row => row.within?.[0] === 'devices').length;
  if (devices > MANY_DEVICES) page.folded.add('devices');
  const apps = page.all.filter(row => row.kind === 'app');
  if (apps.length > FEW_APPS) for (const row of apps) page.folded.add(row.id);
}

/** The timeline of a short run leaves its room to what is below. */
function fitHeight() {
  const rows = page.rows.reduce((sum, row) => sum + row.height, 0) + byId('timeline').offsetHeight - page.scroller.offsetHeight;
  setHeight(Math.min(innerHeight * .58, Math.max(rows + 8, innerHeight * .3)));
}

function start(runs) {
  page.runs = runs;
  for (const run of page.runs) run.several = page.runs.length > 1;
  if (new Set(page.runs.map(run => run.title)).size < page.runs.length) {
    for (const run of page.runs) run.title = run.json.name.split('/').filter(Boolean).at(-1) ?? run.title;
  }
  const compared = document.querySelector('script.comparison');
  const comparison = compared && JSON.parse(compared.textContent);
  if (comparison) markDifferences(comparison);
  page.order = orderOf(page.runs);
  finding.order = page.order;
  const ends = page.runs.map(run => {
    let end = Math.max(run.end, 1e6);
    // The window of the last events may go on after the run.
    for (let i = Math.max(0, run.count - 100); i < run.count; i++) end = Math.max(end, run.windowOf(i)?.end ?? 0);
    return end;
  });
  const end = Math.max(...ends);
  [view.least, view.most] = [-end * .004, end * 1.01];
  page.list = decisionList();
  addTab('decisions', 'Decisions', page.list);
  if (comparison) addTab('changes', `Differences (${grouped(comparison.changes.length)})`, changeList(comparison));
  addTab('span', 'Selection');
  const exits = page.runs.reduce((sum, run) => sum + run.json.exits.length, 0);
  if (exits && !page.isLive) addTab('exits', `Ends of processes (${grouped(exits)})`, exitList());
  if (!page.isLive) addTab('run', page.runs.length > 1 ? 'Runs' : 'Run');
  page.all = allRows(page.runs);
  foldWhatIsMany();
  byId('corner').textContent = page.runs.map(run => (run.several ? run.letter + ' ' : '') + run.title).join(' · ');
  const decisions = grouped(page.order.length);
  pens.rows.canvas.setAttribute('aria-label', `The timeline of ${decisions} decisions. The list below has all of them.`);
  showLegend();
  showBands();
  theme.apply();
  layOut();
  fitHeight();
  listenToRows();
  listenToTheRest();
  view.width = pens.rows.canvas.clientWidth;
  readAddress();
  draw();
}

const packed = [...document.querySelectorAll('script.run')];
if (packed.length) start(packed.map((script, index) => new Run(JSON.parse(script.textContent), index)));
