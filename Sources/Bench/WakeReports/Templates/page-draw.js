// Drawing: what part of the run is seen, and the canvases.

/** The signs of verdicts, around the middle of a sign: what was delivered is filled, what was refused is hollow. */
const SIGNS = [
  'M-4-4H4V4H-4Z', 'M0-5 5 4H-5Z', 'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0Z', 'M0-6 6 0 0 6-6 0Z',
  'M-5-4H5L0 5Z', 'M-4-4H4V4H-4Z', 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z', 'M-4.5 0a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0ZM-2.2-2.2 2.2 2.2M2.2-2.2-2.2 2.2',
];
const SIGN_PATHS = SIGNS.map(path => new Path2D(path));
const ENTRY_PATHS = {
  flag: new Path2D('M-3 7V-6H5L2.5-3 5 0H-3'),
  act: new Path2D('M-4-4H4L0 3Z'),
  quit: new Path2D('M-4-4 4 4M4-4-4 4'),
  end: new Path2D('M-3.5-3.5 3.5 3.5M3.5-3.5-3.5 3.5'),
  deed: new Path2D('M0-3 3 0 0 3-3 0Z'),
};

const SIGN_ELEMENTS = SIGNS.map((path, verdict) => {
  const template = document.createElement('template');
  const colour = `var(--${VERDICTS[verdict]})`;
  const look = verdict < FIRST_REFUSAL ? `fill="${colour}"` : `fill="none" stroke="${colour}" stroke-width="1.7"`;
  template.innerHTML = `<svg class="sign" viewBox="-7 -7 14 14" aria-hidden="true"><path d="${path}" ${look}/></svg>`;
  return template.content.firstChild;
});

/** The same sign as an element. */
const verdictSign = verdict => SIGN_ELEMENTS[verdict].cloneNode(true);

/** The part of the run that is seen. */
const view = {
  from: 0, to: 1, width: 1, least: -1, most: 1,
  x(time) { return (time - this.from) / (this.to - this.from) * this.width; },
  timeAt(x) { return this.from + x / this.width * (this.to - this.from); },
  span() { return this.to - this.from; },
  set(from, to) {
    const span = Math.min(Math.max(to - from, 1e4), this.most - this.least);
    const middle = (from + to) / 2;
    this.from = Math.min(Math.max(middle - span / 2, this.least), this.most - span);
    this.to = this.from + span;
    schedule();
  },
  /** Makes the part longer by a factor, around what is at `x`. */
  zoom(factor, x = this.width / 2) {
    const at = this.timeAt(x);
    const span = Math.min(Math.max(this.span() * factor, 1e4), this.most - this.least);
    this.set(at - x / this.width * span, at + (1 - x / this.width) * span);
  },
  pan(pixels) {
    const by = pixels / this.width * this.span();
    this.set(this.from + by, this.to + by);
  },
  fit() { this.set(this.least, this.most); },
  /** Brings an instant into the middle part, and no closer than it is seen now. */
  show(time) {
    const x = this.x(time);
    if (x < this.width * .04 || x > this.width * .96) this.set(time - this.span() / 2, time + this.span() / 2);
  },
};

const FONT = '11px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';

/** `#1f5fb4` as a pixel. */
function wordOf(colour) {
  const [red, green, blue] = (colour?.match(/[0-9a-f]{2}/gi) ?? [0, 0, 0]).map(part => parseInt(part, 16));
  return colour ? ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0 : 0;
}

/** Draws on the canvas of the rows. */
class Pen {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.bins = new Uint32Array(0);
  }

  /** Takes the colours of the theme. */
  takeColours() {
    const style = getComputedStyle(document.documentElement);
    const names = [
      'back', 'bar', 'text', 'soft', 'edge', 'rule', 'accent', 'mark', 'shade', 'terminated', 'window', 'used', 'connected',
      'in-range', 'phone', 'differs', 'callback', 'force-quit', 'active', 'inactive', 'background', 'suspended', ...VERDICTS,
    ];
    this.colours = Object.fromEntries(names.map(name => [name, style.getPropertyValue('--' + name).trim()]));
    this.verdicts = VERDICTS.map(name => this.colours[name]);
    this.stateColours = STATES.map(name => this.colours[name] ?? null);
    this.stateColours[5] = null;
    const words = colours => colours.map(wordOf);
    this.verdictWords = words([...this.verdicts, this.colours.edge]);
    this.stateWords = words(this.stateColours);
    this.lineWord = wordOf(this.colours.terminated);
    this.differsWord = wordOf(this.colours.differs);
  }

  /** Fits the canvas to its element. */
  resize() {
    const ratio = devicePixelRatio || 1;
    const { clientWidth: width, clientHeight: height } = this.canvas;
    if (this.canvas.width !== Math.round(width * ratio)) this.canvas.width = Math.round(width * ratio);
    if (this.canvas.height !== Math.round(height * ratio)) this.canvas.height = Math.round(height * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.width = width;
    this.height = height;
  }

  /** Begins a picture: what is drawn pixel by pixel comes below all else, however late. */
  begin() {
    const { width, height } = this.canvas;
    if (this.image?.width !== width || this.image?.height !== height) {
      this.image = new ImageData(Math.max(1, width), Math.max(1, height));
      this.words = new Uint32Array(this.image.data.buffer);
      this.layer ??= document.createElement('canvas');
      [this.layer.width, this.layer.height] = [width, height];
    } else this.words.fill(0);
    this.context.clearRect(0, 0, this.width, this.height);
    this.context.textBaseline = 'middle';
  }

  /** Puts the pixels below what was drawn, and then draws below them. */
  end(drawBelow) {
    const { context } = this;
    this.layer.getContext('2d').putImageData(this.image, 0, 0);
    context.globalCompositeOperation = 'destination-over';
    context.drawImage(this.layer, 0, 0, this.width, this.height);
    drawBelow?.();
    context.globalCompositeOperation = 'source-over';
  }

  /** A rectangle of whole pixels: of thousands, each costs far less than one of the canvas. */
  block(word, x, y, width, height) {
    const { ratio, image, words } = this;
    const left = Math.max(0, Math.round(x * ratio));
    const right = Math.min(image.width, Math.max(left + 1, Math.round((x + width) * ratio)));
    const top = Math.max(0, Math.round(y * ratio));
    const bottom = Math.min(image.height, Math.round((y + height) * ratio));
    for (let line = top; line < bottom; line++) {
      const start = line * image.width;
      for (let at = start + left; at < start + right; at++) words[at] = word;
    }
  }

  fill(colour, x, y, width, height) {
    this.context.fillStyle = colour;
    this.context.fillRect(x, y, width, height);
  }

  /** A band with its word, where there is room for it. */
  band(start, end, y, height, colour, word) {
    const left = Math.max(-2, view.x(start));
    const right = Math.min(this.width + 2, view.x(end));
    if (right < 0 || left > this.width) return;
    // A gap parts a band from the next of its colour.
    this.fill(colour, left, y, Math.max(1, right - left - 1), height);
    if (height >= 12 && right - left > 24) this.word(word, Math.max(left, 0) + 5, y + height / 2, right - Math.max(left, 0) - 9);
  }

  /** A text in a width, with its end left out where it is longer. */
  word(text, x, y, width, colour = this.colours.text) {
    const { context } = this;
    context.font = FONT;
    context.fillStyle = colour;
    let shown = text;
    if (context.measureText(shown).width > width) {
      const letters = Math.floor(shown.length * width / context.measureText(shown).width) - 1;
      if (letters < 3) return;
      shown = shown.slice(0, letters) + '…';
    }
    context.fillText(shown, x, y + .5);
  }

  /**
   * The states of an app. Those of less than a pixel are gathered: the pixel has the colour of what lasted longest, and from below,
   * as high as its part, what ran.
   */
  states(run, moves, y, height) {
    const { time, state } = run.moves;
    let place = Math.max(0, firstFrom(time, moves, view.from) - 1);
    const gathered = { column: -1, parts: new Float64Array(STATES.length), drawn: null };
    for (; place < moves.length && time[moves[place]] < view.to; place++) {
      const start = Math.max(0, view.x(time[moves[place]]));
      const end = Math.min(this.width, view.x(place + 1 < moves.length ? time[moves[place + 1]] : run.end));
      if (end <= 0) continue;
      const kind = state[moves[place]];
      if (end - start >= 1.5) {
        this.gather(gathered, -1, y, height);
        this.state(kind, start, y, end - start, height);
      } else {
        const column = Math.floor(start);
        if (column !== gathered.column) this.gather(gathered, column, y, height);
        gathered.parts[kind] += end - start;
      }
    }
    this.gather(gathered, -1, y, height);
    this.flush(gathered, y, height);
  }

  state(kind, x, y, width, height) {
    if (this.stateColours[kind]) this.block(this.stateWords[kind], x, y, width, height);
    else if (kind === 5) this.block(this.lineWord, x, y + height - 2, width, 1);
    if (kind === 6) this.hatch(x, y, width, height);
  }

  /** A force quit is told by more than its colour. */
  hatch(x, y, width, height) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(x, y, width, height);
    context.clip();
    context.beginPath();
    for (let at = x - height - (x % 7); at < x + width; at += 7) {
      context.moveTo(at, y + height);
      context.lineTo(at + height, y);
    }
    context.strokeStyle = this.colours.deny;
    context.lineWidth = 1;
    context.stroke();
    context.restore();
  }

  /** Ends a pixel of gathered states, and begins another. Pixels that look the same are drawn as one. */
  gather(gathered, column, y, height) {
    const { parts } = gathered;
    if (gathered.column >= 0) {
      let most = 0;
      for (let kind = 1; kind < parts.length; kind++) if (parts[kind] > parts[most]) most = kind;
      const running = parts[1] + parts[2] + parts[3];
      let all = running + parts[0] + parts[4] + parts[5] + parts[6];
      if (all < 1) all = 1;
      const bright = parts[2] > parts[3] ? 2 : 3;
      const base = most >= 1 && most <= 3 ? SUSPENDED : most;
      const high = running ? Math.max(2, Math.round(running / all * height)) : 0;
      const { drawn } = gathered;
      if (drawn && drawn.end === gathered.column && drawn.base === base && drawn.high === high && drawn.bright === bright) drawn.end++;
      else {
        this.flush(gathered, y, height);
        gathered.drawn = { start: gathered.column, end: gathered.column + 1, base, bright, high };
      }
      parts.fill(0);
    }
    gathered.column = column;
    if (column < 0) this.flush(gathered, y, height);
  }

  flush(gathered, y, height) {
    const { drawn } = gathered;
    if (!drawn) return;
    const width = drawn.end - drawn.start;
    this.state(drawn.base, drawn.start, y, width, height);
    if (drawn.high) this.block(this.stateWords[drawn.bright], drawn.start, y + height - drawn.high, width, drawn.high);
    gathered.drawn = null;
  }

  /** Decisions as signs, or as how many there are where they stand too close. */
  decisions(run, positions, y, height) {
    const { time } = run;
    const first = firstFrom(time, positions, view.timeAt(-8));
    const last = firstFrom(time, positions, view.timeAt(this.width + 8));
    if (first === last) return;
    if (last - first > this.width / 9) this.density(run, positions, first, last, y, height);
    else this.each(run, positions, first, last, y + height / 2);
  }

  each(run, positions, first, last, y) {
    const { context } = this;
    const matches = finding.matches?.[run.index];
    context.lineWidth = 1.7;
    for (let place = first; place < last; place++) {
      const i = positions[place];
      const verdict = run.verdict[i];
      const x = view.x(run.time[i]);
      context.setTransform(this.ratio, 0, 0, this.ratio, x * this.ratio, y * this.ratio);
      context.globalAlpha = matches && !matches[i] ? .2 : 1;
      if (verdict < FIRST_REFUSAL) {
        context.fillStyle = this.verdicts[verdict];
        context.fill(SIGN_PATHS[verdict]);
      } else {
        context.fillStyle = this.colours.back;
        context.fill(SIGN_PATHS[verdict]);
        context.strokeStyle = this.verdicts[verdict];
        context.stroke(SIGN_PATHS[verdict]);
      }
      if (run.differs[i]) this.differing(0, 0, 7.5);
    }
    context.globalAlpha = 1;
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }

  differing(x, y, reach) {
    const { context } = this;
    context.strokeStyle = this.colours.differs;
    context.lineWidth = 1.5;
    context.strokeRect(x - reach, y - reach, 2 * reach, 2 * reach);
    context.lineWidth = 1.7;
  }

  /** A bar every other pixel: its height says how many, its parts the verdicts, and what the search leaves out is pale. */
  density(run, positions, first, last, y, height) {
    const columns = Math.ceil(this.width / 2) + 1;
    const kinds = VERDICTS.length + 1;
    if (this.bins.length < columns * kinds) this.bins = new Uint32Array(columns * kinds);
    const { bins } = this;
    bins.fill(0, 0, columns * kinds);
    const matches = finding.matches?.[run.index];
    const [scale, from] = [this.width / view.span() / 2, view.from];
    const differing = [];
    for (let place = first; place < last; place++) {
      const i = positions[place];
      const column = Math.floor((run.time[i] - from) * scale);
      if (column < 0 || column >= columns) continue;
      bins[column * kinds + (matches && !matches[i] ? VERDICTS.length : run.verdict[i])]++;
      if (run.differs[i] && differing.at(-1) !== column) differing.push(column);
    }
    const sums = this.sums(columns, kinds);
    const most = this.most(sums, columns);
    const bottoms = new Float64Array(columns).fill(y + height);
    for (let kind = 0; kind < kinds; kind++) {
      const word = this.verdictWords[kind];
      for (let column = 0; column < columns; column++) {
        const count = bins[column * kinds + kind];
        if (!count) continue;
        const high = Math.max(3, Math.min(1, sums[column] / most) * height);
        const part = Math.max(1, high * count / sums[column]);
        bottoms[column] -= part;
        this.block(word, column * 2, bottoms[column], 2, part);
      }
    }
    for (const column of differing) this.block(this.differsWord, column * 2, y + height, 2, 2);
  }

  /** How many there are in each column. */
  sums(columns, kinds) {
    const sums = new Uint32Array(columns);
    for (let at = 0, column = 0; column < columns; column++) {
      for (let kind = 0; kind < kinds; kind++) sums[column] += this.bins[at++];
    }
    return sums;
  }

  /** What a full bar stands for: a few columns with far more than all others must not make the others flat. */
  most(sums, columns) {
    const sorted = sums.slice(0, columns).sort();
    const first = sorted.findIndex(sum => sum > 0);
    return Math.min(sorted[columns - 1], 1.5 * sorted[first + Math.floor((columns - first) * .95)]);
  }

  /** Marks of what is no decision, one a place. */
  signs(entries, y, named) {
    const { context, colours } = this;
    let last = -Infinity;
    for (let place = 0; place < entries.length; place++) {
      const { time, text, sign } = entries[place];
      const x = view.x(time);
      if (x < -8 || x > this.width + 8) continue;
      if (x - last < (sign === 'deed' ? 14 : 2)) continue;
      last = x;
      context.setTransform(this.ratio, 0, 0, this.ratio, x * this.ratio, y * this.ratio);
      context.lineWidth = sign === 'quit' ? 2.5 : 1.8;
      context.strokeStyle = sign === 'quit' ? colours.deny : colours.text;
      context.fillStyle = sign === 'flag' ? colours.defer : colours.soft;
      if (sign === 'quit' || sign === 'end') context.stroke(ENTRY_PATHS[sign]);
      else context.fill(ENTRY_PATHS[sign]);
      context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      const next = place + 1 < entries.length ? view.x(entries[place + 1].time) : this.width;
      if (named && next - x > 40) this.word(text, x + 8, y, next - x - 16, colours.soft);
    }
  }

  /** The windows of wakes: a bracket as long as the window, what was used of it, and above it what was left. */
  wakes(run, wakes, y, height) {
    const { context, colours } = this;
    let place = Math.max(0, firstFrom(run.time, wakes, view.from) - 3);
    let drawn = -Infinity;
    for (; place < wakes.length && run.time[wakes[place]] < view.to; place++) {
      const left = view.x(run.time[wakes[place]]);
      if (left < drawn + 1 && left >= 0) continue;
      const found = run.windowOf(wakes[place]);
      if (!found) continue;
      const [used, right] = [view.x(found.used), view.x(found.end)];
      if (right < 0) continue;
      drawn = left;
      if (right - left < 12) {
        const width = Math.max(1, right - left - 1);
        const spent = height * (found.used - found.start) / Math.max(1, found.end - found.start);
        this.fill(colours.window, left, y, width, height);
        this.fill(colours.used, left, y + height - spent, width, spent);
        continue;
      }
      this.wake(found, left, used, right, y, height);
    }
    context.lineWidth = 1;
  }

  wake(found, left, used, right, y, height) {
    const { context, colours } = this;
    const level = leftOver => y + height - height * Math.max(0, Math.min(1, leftOver / Math.max(1, found.limit)));
    const spent = (found.used - found.start) / 1e6;
    context.beginPath();
    context.moveTo(left, y + height);
    context.lineTo(left, level(found.left));
    context.lineTo(used, level(found.left - spent));
    context.lineTo(used, y + height);
    context.closePath();
    context.fillStyle = colours.window;
    context.fill();
    context.beginPath();
    context.moveTo(left, level(found.left));
    context.lineTo(used, level(found.left - spent));
    context.strokeStyle = colours.used;
    context.lineWidth = 1.5;
    context.stroke();
    context.beginPath();
    context.moveTo(left + .5, y);
    context.lineTo(left + .5, y + height - .5);
    context.lineTo(right - .5, y + height - .5);
    context.lineTo(right - .5, y);
    context.strokeStyle = colours.soft;
    context.lineWidth = 1;
    context.stroke();
    if (right - left > 90) this.word(milliseconds(Math.round(found.left - spent)) + ' left', Math.max(used, 0) + 6, y + height / 2, right - used - 10, colours.soft);
  }

  callbacks(run, calls, y, height) {
    const first = firstFrom(run.calls.time, calls, view.from);
    const last = firstFrom(run.calls.time, calls, view.to);
    let drawn = -Infinity;
    for (let place = first; place < last; place++) {
      const x = view.x(run.calls.time[calls[place]]);
      if (x < drawn + 1.5) continue;
      drawn = x;
      this.fill(this.colours.callback, x, y, 1.5, height);
      const next = place + 1 < calls.length ? view.x(run.calls.time[calls[place + 1]]) : this.width;
      if (next - x > 50) this.word(run.texts[run.calls.name[calls[place]]], x + 5, y + height / 2, next - x - 10, this.colours.soft);
    }
  }

  spans(spans, y, height) {
    for (const { start, end, text } of spans) this.band(start, end, y, height, this.colours.window, text);
  }

  get ratio() { return this.canvas.width / Math.max(1, this.width); }
}

// The axis

const STEPS = [
  1e3, 1e4, 1e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9, 2e9, 5e9, 1e10, 1.5e10, 3e10, 6e10, 1.2e11, 3e11, 6e11, 9e11,
  1.8e12, 3.6e12, 7.2e12, 1.08e13, 2.16e13, 4.32e13, 8.64e13, 1.728e14, 6.048e14, 2.592e15,
];

/** The instants that have a mark, and how many nanoseconds there are between two. */
function ticks() {
  const step = STEPS.find(each => each / view.span() * view.width >= 100) ?? STEPS.at(-1);
  const times = [];
  for (let time = Math.max(0, Math.ceil(view.from / step) * step); time <= view.to && times.length < 200; time += step) times.push(time);
  return { step, times };
}

/** `07:30`, with seconds and parts of them where the marks stand so close. */
function tickText(time, step) {
  const text = timeText(time).slice(2);
  if (step >= 6e10) return text.split(':').slice(0, 2).join(':');
  if (step >= 1e9) return text.split('.')[0];
  return text;
}

function drawAxis(pen) {
  const { context, colours } = pen;
  pen.resize();
  context.clearRect(0, 0, pen.width, pen.height);
  context.textBaseline = 'middle';
  const { step, times } = ticks();
  for (const time of times) {
    const x = view.x(time);
    pen.fill(colours.edge, Math.round(x), 0, 1, pen.height);
    if (x > -60 && x < pen.width - (step < 6e10 ? 64 : 40)) pen.word(tickText(time, step), x + 5, pen.height / 2, 120, colours.soft);
  }
  if (!spanned) return;
  const [left, right] = [view.x(spanned.from), view.x(spanned.to)];
  pen.fill(colours.shade, left, 0, right - left, pen.height);
  const text = spanText(spanned.to - spanned.from);
  context.font = FONT;
  const width = context.measureText(text).width + 12;
  const middle = Math.min(Math.max((left + right) / 2, width / 2), pen.width - width / 2);
  pen.fill(colours.accent, middle - width / 2, 4, width, pen.height - 8);
  pen.word(text, middle - width / 2 + 6, pen.height / 2, width, colours.back);
}

// The whole run, in small

/** What the small picture is of: it is drawn again only when that changes. */
let overviewOf = '';
const overviewPicture = document.createElement('canvas');

function drawOverview(pen) {
  const { context, colours } = pen;
  pen.resize();
  const is = [pen.canvas.width, pen.canvas.height, theme.name, finding.text, view.most, ...page.runs.map(run => run.count)].join(' ');
  if (is !== overviewOf) {
    overviewOf = is;
    [overviewPicture.width, overviewPicture.height] = [pen.canvas.width, pen.canvas.height];
    const seen = [view.from, view.to, view.width];
    [view.from, view.to, view.width] = [view.least, view.most, pen.width];
    const small = new Pen(overviewPicture);
    small.takeColours();
    Object.assign(small, { width: pen.width, height: pen.height });
    small.context.setTransform(pen.ratio, 0, 0, pen.ratio, 0, 0);
    small.begin();
    const height = (pen.height - 8) / page.runs.length;
    for (const run of page.runs) {
      small.density(run, Uint32Array.from({ length: run.count }, (_, i) => i), 0, run.count, 4 + height * run.index, height - 3);
    }
    small.end();
    [view.from, view.to, view.width] = seen;
  }
  context.clearRect(0, 0, pen.width, pen.height);
  context.drawImage(overviewPicture, 0, 0, pen.width, pen.height);
  const x = time => (time - view.least) / (view.most - view.least) * pen.width;
  const [left, right] = [x(view.from), Math.max(x(view.to), x(view.from) + 3)];
  context.globalAlpha = .72;
  pen.fill(colours.bar, 0, 0, left, pen.height);
  pen.fill(colours.bar, right, 0, pen.width - right, pen.height);
  context.globalAlpha = 1;
  context.strokeStyle = colours.accent;
  context.lineWidth = 1.5;
  context.strokeRect(left + .75, .75, Math.max(1, right - left - 1.5), pen.height - 1.5);
}

// The rows

function drawRows(pen) {
  const { colours } = pen;
  pen.resize();
  view.width = pen.width;
  pen.begin();
  const top = page.scroller.scrollTop;
  const seen = page.rows.filter(row => row.y + row.height > top && row.y < top + pen.height);
  for (const row of seen) row.draw(pen, row.y - top);
  for (const run of page.runs) {
    endLine(pen, run);
    for (const [time] of run.json.failures) failureLine(pen, time);
  }
  if (spanned) pen.fill(colours.shade, view.x(spanned.from), 0, view.x(spanned.to) - view.x(spanned.from), pen.height);
  if (chosen) chosenLine(pen, top);
  pen.end(() => {
    for (const row of seen) {
      pen.fill(colours.rule, 0, row.y - top + row.height - 1, pen.width, 1);
      if (row.kind === 'group') pen.fill(colours.bar, 0, row.y - top, pen.width, row.height - 1);
    }
    for (const time of ticks().times) pen.fill(colours.rule, Math.round(view.x(time)), 0, 1, pen.height);
  });
}

/** Where a run ended: what is to the right of it did not happen any more. */
function endLine(pen, run) {
  const x = view.x(run.end);
  if (x < 0 || x > pen.width) return;
  const { context } = pen;
  context.beginPath();
  context.setLineDash([4, 3]);
  context.moveTo(Math.round(x) + .5, 0);
  context.lineTo(Math.round(x) + .5, pen.height);
  context.strokeStyle = pen.colours.soft;
  context.lineWidth = 1;
  context.stroke();
  context.setLineDash([]);
}

/** When something was missed: a line through all rows. */
function failureLine(pen, time) {
  const x = view.x(time);
  if (x >= 0 && x <= pen.width) pen.fill(pen.colours.deny, Math.round(x) - .5, 0, 1.5, pen.height);
}

/** The decision that is chosen: a line through all rows, and a ring in those of its app. */
function chosenLine(pen, top) {
  const { run, i } = chosen;
  const { context, colours } = pen;
  const x = view.x(run.time[i]);
  pen.fill(colours.accent, x - .5, 0, 1, pen.height);
  const row = page.rows.find(each => each.kind === 'app' && each.run === run && each.title === run.appOf(i));
  if (!row) return;
  context.beginPath();
  context.arc(x, row.y - top + 10.5, 8.5, 0, 7);
  context.strokeStyle = colours.accent;
  context.lineWidth = 2;
  context.stroke();
}
