// Why a decision was made: the same words as `wakebench why`, and below them every check with what it saw.

/** `10 s`, `250 ms` */
const milliseconds = number => (number % 1000 ? number + ' ms' : number / 1000 + ' s');

/** `612 ms`, and below a millisecond `340 µs` */
function shortSpan(span) {
  const microseconds = Math.floor(span / 1000);
  return microseconds > 0 && microseconds < 1000 ? microseconds + ' µs' : Math.floor(span / 1e6) + ' ms';
}

/** The instant of `T+02:14:07.250`, cut to seconds. */
const cut = text => String(text).split('.')[0];

/** ` with 3 more events, past its window of 10 s`: each of them may have a window of its own (LIFE-11). */
function past(run, i, span, limit) {
  const own = run.ofApp.of(run.app[i]);
  let more = 0;
  for (let place = firstFrom(run.time, own, run.time[i] + 1); place < own.length && run.time[own[place]] <= run.time[i] + span; place++) {
    if (VERDICTS[run.verdict[own[place]]] === 'background-deliver') more++;
  }
  return (more ? ` with ${more} more event${more === 1 ? '' : 's'}` : '') + ', past its window of ' + milliseconds(limit);
}

/** `pid 4711, launched in 38 ms, 612 ms of 10 s, then suspended, didConnect; value 0648`; empty for no outcome. */
function outcomeWords(run, i) {
  const at = run.outcomeOf[i];
  if (at < 0) return '';
  const { pid, spawn, used, ended, exit, firstCall } = run.outcomes;
  const parts = [];
  if (pid[at]) parts.push('pid ' + pid[at]);
  if (spawn[at]) parts.push('launched in ' + shortSpan(spawn[at] - 1));
  const budget = run.budgetOf(i);
  if (used[at]) {
    const isPast = budget && Math.floor((used[at] - 1) / 1e6) > budget[0];
    parts.push(shortSpan(used[at] - 1) + (isPast ? past(run, i, used[at] - 1, budget[0]) : budget ? ' of ' + milliseconds(budget[0]) : ''));
  }
  const ending = ['', 'suspended', 'exited', 'killed'][ended[at] >> 1];
  if (ending) parts.push('then ' + ending + (exit[at] ? ` (x-${exit[at]})` : ''));
  if (!(ended[at] & 1)) parts.push('not answered yet');
  const [names, values] = [[], []];
  for (let call = firstCall[at]; call < firstCall[at + 1]; call++) {
    names.push(run.texts[run.calls.name[call]]);
    if (run.calls.value[call]) values.push(run.texts[run.calls.value[call] - 1]);
  }
  if (names.length) parts.push(names.join(' '));
  return parts.join(', ') + (values.length ? '; value ' + values.join(' ') : '');
}

/** Whether the words of the outcome tell what came with the event. */
function tellsValue(run, i) {
  const at = run.outcomeOf[i];
  if (at < 0) return false;
  const { firstCall } = run.outcomes;
  return run.calls.value.subarray(firstCall[at], firstCall[at + 1]).some(value => value > 0);
}

/** Fills the places of what a reason means. */
function because(run, i, record) {
  const kind = run.json.kinds[run.kindOf(i)];
  const pieces = kind.because[run.reasonOf(i)];
  const decisive = record?.checks?.find(check => check.decisive);
  const figure = name => decisive?.[name] ?? decisive?.observed?.[name];
  const budget = run.budgetOf(i);
  const exit = record?.app?.last_exit;
  const cleared = decisive?.cleared_by ?? [];
  const places = {
    'mode': () => kind.mode,
    'state': () => record?.app?.state_before ?? '',
    'before': () => cut(record?.app?.since ?? shortTime(0)),
    'since': () => cut(decisive?.since ?? record?.app?.since ?? shortTime(0)),
    'exit': () => (exit ? `it ended at ${cut(exit.t)}, cause ${exit.cause} (${exit.id})` : 'it has not run'),
    'window': () => (budget ? 'the wake has ' + milliseconds(budget[0]) : 'the wake has its window'),
    'left': () => (budget ? `, ${milliseconds(budget[1])} of its window left` : ''),
    'set by': () => (decisive?.set_by ? ` (${decisive.set_by})` : ''),
    'cleared by': () => (cleared.length ? `; only a ${cleared.join(' or a ')} clears this` : ''),
    'silence limit': () => (figure('limit_ms') == null ? 'the limit' : milliseconds(figure('limit_ms'))),
    'dwell': () => (figure('dwell_ms') == null ? '' : ' of ' + milliseconds(figure('dwell_ms'))),
    'span': () => (figure('window_ms') == null ? 'its window' : milliseconds(figure('window_ms'))),
  };
  return pieces.map((piece, place) => (place % 2 ? places[piece]() : piece)).join('');
}

/** What was done with the event. */
function verb(run, i) {
  const verdict = VERDICTS[run.verdict[i]];
  if (verdict === 'resume' || verdict === 'relaunch') return 'woken';
  if (verdict.endsWith('-deliver')) return 'given it while running';
  if (verdict === 'defer') return 'NOT woken, made to wait';
  return run.app[i] < 0 ? 'NOT given it' : 'NOT woken';
}

/** The rules of which no check failed, each once. */
function passedRules(record) {
  const failed = new Set(record.checks.filter(check => check.result === 'fail').map(check => check.rule));
  const passed = record.checks.filter(check => check.result === 'pass' && !failed.has(check.rule)).map(check => check.rule);
  return [...new Set(passed)].join(' ') || 'nothing';
}

/** The lines of `wakebench why` about a decision: a headline, then words with their texts. */
function whyLines(run, i) {
  const record = run.record(i);
  const rule = run.ruleOf(i);
  const event = `${run.sourceOf(i)} ${run.happening(i)} (${idText('e', run.event[i])})`;
  const lines = [['', `${run.appOf(i) ?? 'nobody'}  ${verb(run, i)} at ${shortTime(run.time[i])} by ${event}`]];
  const add = (word, text) => { if (text) lines.push([word, text]); };
  add('because', `${run.reasonOf(i)}   ${because(run, i, record)}   ${RULES[rule][0]}`);
  if (record?.checks?.length) {
    const decisive = record.checks.some(check => check.decisive);
    const without = decisive && record.would_have ? `   without it: ${record.would_have.verdict}` : '';
    add('passed', passedRules(record) + without);
  }
  if (record?.app?.debugger === 'exempting') add('debugger', 'exempts the app from limits of time   SYS-5');
  const asked = new Set([rule, ...(record?.checks ?? []).map(check => check.rule)]);
  add('set', run.json.set.filter(([of]) => asked.has(of)).map(([, text]) => text).join(', '));
  if (!tellsValue(run, i)) add('value', run.valueOf(i));
  add('outcome', outcomeWords(run, i));
  const failing = record?.would_have?.also_failing ?? [];
  if (failing.length) add('also', failing.join(' ') + ' would fail next');
  const later = run.replacement(i);
  if (later >= 0) {
    const what = `${VERDICTS[run.verdict[later]]}, ${run.reasonOf(later)}`;
    add('later', `${idText('d', run.number[later])} ${what}, at ${shortTime(run.time[later])}`);
  }
  if (run.replaces[i]) add('replaces', idText('d', run.number[i] - run.replaces[i]));
  if (run.verdict[i] >= FIRST_REFUSAL) for (const advice of record?.fix ?? []) add('try', advice);
  if (run.app[i] >= 0 && record?.census) add('others', othersText(record.census));
  return lines;
}

function othersText(census) {
  const apps = census.apps === 1 ? '1 app' : census.apps + ' apps';
  const woke = census.woke > 0 ? [census.woke + ' woke'] : [];
  const refused = Object.entries(census.by_reason).map(([reason, count]) => `${count} ${reason}`);
  return `${apps} saw this event: ${[...woke, ...refused].join(', ')}`;
}

// The panel.

/** What a check observed, as people read it. */
function observedText(check) {
  const known = new Set(['rule', 'name', 'result', 'decisive', 'confidence', 'assumed', 'observed', 'since', 'set_by', 'cleared_by', 'lifted_by', 'set']);
  const parts = [];
  if ('observed' in check) parts.push(valueText(check.observed));
  for (const [key, value] of Object.entries(check)) if (!known.has(key)) parts.push(figureText(key, value));
  if (check.lifted_by) parts.push('set aside by ' + check.lifted_by);
  if (check.since) parts.push('since ' + check.since);
  if (check.set_by) parts.push('set by ' + check.set_by);
  if (check.cleared_by) parts.push('cleared by ' + check.cleared_by.join(' or '));
  if (check.set) parts.push(Object.entries(check.set).map(([name, value]) => `${name} ${value}`).join(', '));
  if (check.assumed) parts.push('assumed: ' + check.assumed);
  return parts.join(', ');
}

const words = key => key.replace(/_ms$/, '').replaceAll('_', ' ');

const figureText = (key, value) => `${words(key)} ${key.endsWith('_ms') ? milliseconds(value) : valueText(value)}`;

/** Logs of wake.decision/1 have lists and objects of figures as well. */
function valueText(value) {
  if (value === null) return 'none';
  if (value === true || value === 'true') return 'yes';
  if (value === false || value === 'false') return 'no';
  if (Array.isArray(value)) return value.length ? value.join(', ') : 'none';
  if (typeof value === 'object') return Object.entries(value).map(([key, each]) => figureText(key, each)).join(', ');
  return String(value);
}

/** The check marks: a sign beside the colour. */
const RESULT_SIGNS = { 'pass': '✓', 'fail': '✗', 'not-applicable': '–' };

function checkRow(check) {
  const name = element('span', {}, check.name);
  if (check.decisive) name.append(' ', element('strong', { class: 'tag' }, 'decisive'));
  return element('tr', { class: 'check ' + check.result },
    element('td', { title: check.result }, RESULT_SIGNS[check.result] ?? '?', element('span', { class: 'unseen' }, ' ' + check.result)),
    element('td', {}, ruleLink(check.rule)),
    element('td', {}, name, element('div', { class: 'soft' }, observedText(check))));
}

/** A rule with its sentence to unfold. */
function ruleLink(rule) {
  return element('abbr', { title: RULES[rule]?.[1] ?? '' }, rule);
}

/** A section of the panel; nothing where there is nothing in it. */
function section(title, ...children) {
  return element('section', {}, element('h3', {}, title), ...children);
}

/** All there is to say of a decision, into the panel. */
function showWhy(panel, run, i) {
  const [headline, ...lines] = whyLines(run, i);
  const record = run.record(i);
  const verdict = VERDICTS[run.verdict[i]];
  const head = element('header', {},
    verdictSign(run.verdict[i]),
    element('div', {},
      element('strong', { class: 'headline' }, headline[1]),
      element('div', { class: 'soft' }, [run.several ? 'run ' + run.letter : '', idText('d', run.number[i]), verdict, timeText(run.time[i])].filter(Boolean).join(' · '))));
  const list = element('dl', {});
  for (const [word, text] of lines) list.append(element('dt', {}, word), element('dd', {}, text));
  const parts = [head, list];
  if (record?.checks?.length) {
    const rows = record.checks.map(checkRow);
    parts.push(section('Checks', element('table', { class: 'checks' }, element('tbody', {}, ...rows))));
  }
  const facts = factRows(run, i, record);
  parts.push(section('Record', element('dl', { class: 'facts' }, ...facts.flatMap(([word, text]) => [element('dt', {}, word), element('dd', {}, text)]))));
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}

function factRows(run, i, record) {
  const facts = [['event', `${idText('e', run.event[i])} ${run.sourceOf(i)} ${run.happening(i)}`]];
  const add = (word, text) => { if (text) facts.push([word, text]); };
  const rule = run.ruleOf(i);
  add('rule', `${rule}: ${RULES[rule][1]}`);
  add('value', run.valueOf(i));
  add('origin', record?.event?.origin);
  add('parent', record?.event?.parent);
  if (record?.app) add('app', `${record.app.bundle}, ${record.app.state_before} since ${record.app.since}, process ${record.app.generation}`);
  const exit = record?.app?.last_exit;
  if (exit) add('last end', `${exit.id}, ${exit.cause} at ${exit.t}`);
  const interest = record?.interest;
  if (interest?.registered) add('registered', `${interest.via} since ${interest.registered_at}${interest.restore_id ? ', restore identifier ' + interest.restore_id : ''}`);
  const budget = record?.budget;
  if (budget) add('window', `${milliseconds(budget.left_ms)} left of ${milliseconds(budget.limit_ms)}, ${milliseconds(budget.used_ms)} used`);
  const outcome = run.outcomeOf[i];
  if (outcome >= 0) {
    const calls = [];
    for (let call = run.outcomes.firstCall[outcome]; call < run.outcomes.firstCall[outcome + 1]; call++) {
      const value = run.calls.value[call] ? ' ' + run.texts[run.calls.value[call] - 1] : '';
      calls.push(`${timeText(run.calls.time[call])} ${run.texts[run.calls.name[call]]}${value}`);
    }
    add('callbacks', calls.join('\n'));
    add('completion', run.outcomes.ended[outcome] & 1 ? 'answered' : 'not answered');
  }
  return facts;
}
