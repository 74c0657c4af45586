// The live page: hears what happens to a phone, moves with its clock, and has the verbs.

const asked = new URLSearchParams(location.search);
const live = {
  token: asked.get('token') ?? '', phone: asked.get('phone') ?? '', run: null, isReal: false, state: '', isLocked: false,
  /** When the clock of the phone was last heard of, by the page's own in milliseconds. */
  heardAt: 0, at: 0, source: null, waiting: [], isDue: false, isAsking: false, isAskDue: false,
};
page.isLive = true;

/** Asks for something as on the control socket. */
async function ask(request) {
  const response = await fetch('/ask', {
    method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${live.token}` }, body: JSON.stringify(request),
  });
  if (response.headers.get('Content-Type') !== 'application/json') throw new Error((await response.text()).trim());
  const answer = await response.json();
  if (!answer.ok) throw new Error(answer.error.hint ? `${answer.error.message}; ${answer.error.hint}` : answer.error.message);
  return answer;
}

function say(text, isWrong = false) {
  byId('told').textContent = text;
  byId('told').title = text;
  byId('told').classList.toggle('wrong', isWrong);
}

/** Asks for something that a button means, and says how that went. */
async function give(words, request) {
  try {
    const answer = await ask({ phone: live.phone, ...request });
    say(answer.at ? `${words}: accepted at ${answer.at}` : words);
  } catch (error) {
    say(`${words}: ${error.message}`, true);
  }
  askAgain();
}

const command = (words, what) => give(words, { op: 'do', command: what, wait: false });
const carryOut = (words, step) => command(words, { step });

// The clock

const presentTime = () => (live.isReal && live.state === 'booted' ? live.at + (performance.now() - live.heardAt) * 1e6 : live.at);

function hearClock(text) {
  const time = timeOf(text);
  if (live.isReal ? time < presentTime() : time < live.at) return;
  [live.at, live.heardAt] = [time, performance.now()];
}

/** Moves what is seen with the clock, where the present is in sight. */
function moveOn(from, to) {
  if (!live.run) return;
  const isSeen = view.from <= from && from <= view.to;
  live.run.end = Math.max(live.run.end, to);
  // In steps: all that is drawn in small is drawn anew with each.
  const most = live.run.end + Math.max(view.span(), 60e9);
  if (view.most < most) view.most = most * 1.05;
  if (isSeen && to !== from) view.set(view.from + to - from, view.to + to - from);
}

let drawnAt = 0;

function tick() {
  const now = presentTime();
  byId('clock').textContent = live.state === 'booted' ? shortTime(now) : live.state;
  moveOn(drawnAt, now);
  drawnAt = now;
  showLeft(now);
  // A pixel of the timeline is the least that can be seen to move.
  setTimeout(() => requestAnimationFrame(tick), Math.min(Math.max(view.span() / view.width / 1e6, 33), 500));
}

function toPresent() {
  if (!live.run) return;
  const span = Math.min(view.span(), Math.max(60e9, live.run.end));
  view.set(presentTime() - span * .92, presentTime() + span * .08);
}

// What is told

function hear(told) {
  if (told.type === 'header') {
    for (const phone of told.phones) if (phone.name === live.phone) hearClock(phone.at);
  } else if (told.ok === false) say(told.error.message, live.state === 'booted');
  else if (told.type === 'gap') listen();
  else if (told.type === 'phone') {
    if (told.phone === live.phone && told.state === 'booted') listen();
    showPhones();
  } else {
    live.waiting.push(told);
    if (!live.isDue) {
      live.isDue = true;
      setTimeout(takeAll, 100);
    }
  }
}

/** Takes what has come meanwhile, all at once. */
function takeAll() {
  live.isDue = false;
  const told = live.waiting.splice(0);
  if (!live.run) return;
  let isNews = false;
  for (const each of told) isNews = live.run.take(each) || isNews;
  if (!isNews) return;
  hearClock(timeText(live.run.end));
  renew();
  askAgain();
}

/** Shows the run as it is now. */
function renew() {
  const { run } = live;
  run.settle();
  page.order = orderOf(page.runs);
  page.all = allRows(page.runs);
  search();
  page.list.extend(finding.order);
  tellFound();
  showLegend();
  layOut();
}

function begin(json) {
  const run = new LiveRun(json);
  [live.run, live.waiting] = [run, []];
  hearClock(timeText(run.end));
  run.end = Math.max(run.end, live.at);
  drawnAt = presentTime();
  if (page.list) {
    page.runs = [run];
    run.several = false;
    choose(null);
    moveOn(drawnAt, drawnAt);
    return renew();
  }
  start([run]);
  page.list.isAtEnd = true;
  view.most = Math.max(run.end * 1.1, run.end + 60e9);
  view.set(Math.max(view.least, run.end - 55e9), Math.max(run.end + 5e9, 60e9));
  tick();
}

/** Listens from now on, with the run so far. */
function listen() {
  live.source?.close();
  live.source = new EventSource(`/events?phone=${encodeURIComponent(live.phone)}&token=${live.token}`);
  live.source.onmessage = event => hear(JSON.parse(event.data));
  live.source.addEventListener('run', event => {
    begin(JSON.parse(event.data));
    askAgain();
  });
  live.source.onopen = () => showPhones();
  // One that is refused is closed for good; others are tried again.
  live.source.onerror = event => say(event.target.readyState === EventSource.CLOSED
    ? 'too many pages of the daemon are open: close one, and load this one again' : 'the daemon does not answer; trying again', true);
}

// The phone

async function showPhones() {
  let phones;
  try {
    ({ phones } = await ask({ op: 'phones' }));
  } catch (error) {
    return say(error.message, true);
  }
  const known = phones.find(phone => phone.name === live.phone) ?? phones.find(phone => phone.state === 'booted') ?? phones[0];
  byId('which').replaceChildren(...phones.map(phone => element('option', { value: phone.name, selected: phone === known }, `${phone.name}${phone.state === 'booted' ? '' : ` (${phone.state})`}`)));
  if (!known) return say("there is no phone; make one with 'wakebench phone create'");
  const isNew = live.phone !== known.name || !live.source;
  Object.assign(live, { phone: known.name, isReal: known.clock === 'real', state: known.state, isLocked: known.locked });
  document.title = `${known.name} · Wakebench`;
  document.querySelector('h1').textContent = known.name;
  if (known.at) hearClock(known.at);
  showVerbs();
  if (isNew) listen();
}

/** A button for each verb of the phone. */
function showVerbs() {
  const phone = (word, text) => pressable(text, () => carryOut(text, { phone: word }));
  const advance = (text, span) => pressable(text, () => command(`clock ${text}`, { advance: Math.round(presentTime() + span) }));
  const whole = (text, op) => pressable(text, () => give(text, { op }));
  const verbs = live.state !== 'booted' ? [whole('Boot', 'boot')] : [
    live.isLocked ? phone('unlock', 'Unlock') : phone('lock', 'Lock'), phone('reboot', 'Reboot'), whole('Shut down', 'shutdown'),
    ...(live.isReal ? [] : [advance('+10 s', 10e9), advance('+1 min', 60e9), advance('+1 h', 3600e9)]),
  ];
  byId('verbs').replaceChildren(...verbs);
}

function pressable(text, act, more = {}) {
  const button = element('button', { type: 'button', ...more }, text);
  button.addEventListener('click', act);
  return button;
}

// Apps and devices

/** A table whose rows stay the same elements while what they say changes: what is pressed does not go from under the pointer. */
class LiveTable {
  constructor(head, make) {
    this.make = make;
    this.rows = new Map();
    this.body = element('tbody');
    this.root = element('table', {}, element('thead', {}, element('tr', {}, ...head.map(text => element('th', {}, text)))), this.body);
  }

  show(items) {
    const gone = new Set(this.rows.keys());
    for (const item of items) {
      gone.delete(item.name);
      let row = this.rows.get(item.name);
      if (!row) {
        row = this.make(item);
        this.rows.set(item.name, row);
        this.body.append(element('tr', { 'data-name': item.name }, ...row.cells.map(each => element('td', {}, each))));
      }
      row.show(item);
    }
    for (const name of gone) {
      this.rows.delete(name);
      this.body.querySelector(`tr[data-name="${CSS.escape(name)}"]`).remove();
    }
  }
}

const cell = () => element('span');

const apps = new LiveTable(['App', 'State', 'Pid', 'Window left', 'Last verdict', ''], ({ name }) => {
  const [state, pid, left, last] = [cell(), cell(), cell(), cell()];
  const act = (label, step) => pressable(label, () => carryOut(`${step} ${name}`, { [step]: name }));
  const buttons = element('span', {}, act('Launch', 'launch'), act('Home', 'home'), act('Force quit', 'force-quit'));
  const row = {
    cells: [name, state, pid, left, last, buttons],
    show(app) {
      const word = app.installed ? app.state : 'uninstalled';
      if (state.textContent !== word) state.replaceChildren(swatch(word), word);
      pid.textContent = app.pid || '';
      last.textContent = app.last ? `${app.last.event} ${app.last.verdict} ${app.last.reason}` : '';
      row.until = app.window == null ? null : row.asOf + app.window * 1e9;
    },
    left, asOf: 0, until: null,
  };
  return row;
});

const devices = new LiveTable(['Device', 'Kind', 'Link', 'RSSI', 'Apps', ''], device => {
  const { name, kind } = device;
  const [link, strength, holders, buttons] = [cell(), cell(), cell(), element('span')];
  const act = (label, step) => pressable(label, () => carryOut(`${step} ${name}`, { [step]: name }));
  if (device.notifies?.length) {
    const which = element('select', { 'aria-label': `Characteristic of ${name}` }, ...device.notifies.map(each => element('option', {}, each.characteristic)));
    const value = element('input', { value: device.notifies[0].value, 'aria-label': `Value of ${name}, in hexadecimal`, spellcheck: 'false' });
    which.addEventListener('change', () => (value.value = row.device.notifies.find(each => each.characteristic === which.value)?.value ?? ''));
    const notify = () => carryOut(`notify ${name} ${which.value} ${value.value}`, { notify: name, characteristic: which.value, value: value.value });
    buttons.append(which, ' ', value, ' ', pressable('Notify', notify));
  }
  if (kind === 'bluetooth-peripheral') buttons.append(act('Disconnect', 'disconnect'));
  const isNear = device.in_range != null && [act('Out of range', 'out-of-range'), act('In range', 'in-range')];
  if (isNear) buttons.append(...isNear);
  if (kind === 'audio-device') buttons.append(act('Plug', 'plug'), act('Unplug', 'unplug'));
  if (kind === 'external-accessory') buttons.append(act('Attach', 'attach'), act('Detach', 'detach'));
  const row = {
    device, cells: [name, kind, link, strength, holders, buttons],
    show(now) {
      row.device = now;
      link.textContent = now.connected ? 'connected' : now.in_range === false ? 'out of range' : '';
      strength.textContent = now.rssi == null ? '' : `${now.rssi} dBm`;
      holders.textContent = now.apps.join(', ');
      if (isNear) [isNear[0].hidden, isNear[1].hidden] = [!now.in_range, now.in_range];
    },
  };
  return row;
});

/** Asks how apps and devices are, once for all that has come meanwhile, and not more than three times a second. */
function askAgain() {
  if (live.isAsking) return void (live.isAskDue = true);
  live.isAsking = true;
  setTimeout(async () => {
    try {
      if (live.state === 'booted') {
        const [ofApps, ofDevices] = await Promise.all(['apps', 'devices'].map(op => ask({ op, phone: live.phone })));
        hearClock(ofApps.at);
        for (const row of apps.rows.values()) row.asOf = timeOf(ofApps.at);
        apps.show(ofApps.apps);
        for (const app of ofApps.apps) {
          const row = apps.rows.get(app.name);
          if (!row.asOf) Object.assign(row, { asOf: timeOf(ofApps.at) }).show(app);
          if (live.run) live.run.json.names[app.bundle] = app.name;
        }
        devices.show(ofDevices.devices);
      }
      await showPhones();
    } catch (error) {
      say(error.message, true);
    }
    live.isAsking = false;
    if (live.isAskDue) {
      live.isAskDue = false;
      askAgain();
    }
  }, 330);
}

/** What is left of windows goes down with the clock. */
function showLeft(now) {
  for (const row of apps.rows.values()) {
    const shown = row.until == null ? '' : `${Math.max(0, (row.until - now) / 1e9).toFixed(1)} s`;
    if (row.left.textContent !== shown) row.left.textContent = shown;
  }
}

// The start

byId('lists').prepend(element('div', { id: 'now', class: 'pane', role: 'tabpanel', tabindex: '0' }, apps.root, devices.root));
addTab('now', 'Apps and devices');
openTab('now');
KEYS.push([['Home'], 'the present', toPresent]);
for (const id of ['now', 'live']) {
  // What is typed is no key of the page.
  byId(id).addEventListener('keydown', event => event.target.matches('input, select') && event.stopPropagation());
}
byId('present').addEventListener('click', toPresent);
byId('live').addEventListener('submit', event => event.preventDefault());
byId('which').addEventListener('change', event => {
  asked.set('phone', event.target.value);
  location.search = asked;
});
theme.apply();
showPhones();
