// The interactive figures: curves, a threshold to drag, and what follows from it.
// All that the reader chooses is in `view`, and the address holds what differs from the defaults.
const explorer = (() => {
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const root = document.getElementById("explorer");
  const $ = (id) => document.getElementById(id);
  const ROW_HEIGHT = 28;
  const FEWEST_FOR_A_BOX = 3;
  const SQUASHING = 20; // as in suite/plots/training_curves.py
  const REACH = 40; // pixels within which the pointer finds a seed

  const environmentOf = new Map(data.environments.map((entry) => [entry.name, entry]));
  const algorithmOf = new Map(data.algorithms.map((entry) => [entry.key, entry]));
  const defaults = {
    environment: data.environments[0].name,
    policy: "deterministic",
    arrival: "first",
    x: "log",
    y: "auto",
    reference: data.algorithms[0].key,
  };
  // At first the page shows what the paper's figures show.
  const offAtFirst = data.algorithms
    .filter((algorithm) => !algorithm.shown)
    .map((algorithm) => algorithm.key);
  const view = { ...defaults, off: new Set(offAtFirst), threshold: {}, theme: "" };
  let curves = null;
  let boxes = null;
  let hovered = null; // { group, run, place }
  let announcing = 0;

  // -- what is shown -------------------------------------------------------------------------

  const environment = () => environmentOf.get(view.environment);
  const threshold = () => view.threshold[view.environment] ?? environment().thresholds[0];
  const returnsOf = (run) => run[view.policy] ?? run.deterministic;
  const policyOf = (run) => (run[view.policy] ? view.policy : "deterministic");
  const groups = () => environment().groups.filter((group) => !view.off.has(group.algorithm));
  const colourOf = (key) => algorithmOf.get(key)[isDark() ? "dark" : "light"];

  /** A colour of the style sheet as a canvas can use it. */
  function css(name) {
    $("probe").style.color = `var(${name})`;
    return getComputedStyle($("probe")).color;
  }

  function isDark() {
    if (view.theme) return view.theme === "dark";
    return matchMedia("(prefers-color-scheme: dark)").matches;
  }

  function arrivalsOf(group) {
    const arrival =
      view.arrival === "first" ? statistics.firstArrival : statistics.lastingArrival;
    return group.runs.map((run) => arrival(group.timesteps, returnsOf(run), threshold()));
  }

  function groupOf(key) {
    return environment().groups.find((group) => group.algorithm === key);
  }

  /** Everything that follows from the threshold, for one algorithm. */
  function outcome(group) {
    const times = arrivalsOf(group);
    const reference = groupOf(view.reference);
    const compared = reference && reference !== group && reference.runs.length && times.length;
    return {
      times,
      arrived: times.filter(Number.isFinite).length,
      median: statistics.median(times),
      ...(compared ? statistics.probabilitySmaller(arrivalsOf(reference), times) : {}),
    };
  }

  /** Over both policies, so that switching between them moves neither axis nor threshold. */
  function returnRange() {
    const both = (run) => [...run.deterministic, ...(run.sampled ?? [])];
    const all = environment().groups.flatMap((group) => group.runs.flatMap(both));
    return [...all, ...environment().thresholds].reduce(
      ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
      [Infinity, -Infinity],
    );
  }

  function timeRange() {
    const grids = environment().groups.map((group) => group.timesteps);
    return [Math.min(...grids.map((g) => g[0])), Math.max(...grids.map((g) => g.at(-1)))];
  }

  function isLogReturn() {
    if (view.y !== "auto") return view.y === "log";
    const scale = Math.max(1, ...environment().thresholds.map(Math.abs));
    return returnRange()[0] < -SQUASHING * scale;
  }

  /** One press of an arrow key: about a hundredth of the threshold of envs.yaml, a power of ten. */
  function thresholdStep() {
    const size = Math.abs(environment().thresholds[0]) || 1;
    return 10 ** Math.round(Math.log10(size / 100));
  }

  // -- words ---------------------------------------------------------------------------------

  const whole = new Intl.NumberFormat("en");
  const compact = new Intl.NumberFormat("en", { notation: "compact" });
  const decimal = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
  const minus = (text) => text.replace("-", "\u2212");
  const returnText = (value) => minus(decimal.format(value));

  function timeText(time, group) {
    return Number.isFinite(time) ? whole.format(time) : `> ${whole.format(group.timesteps.at(-1))}`;
  }

  function pText(value) {
    if (value === undefined) return "";
    return value < 0.001 ? value.toExponential(1).replace("e-", "e\u2212") : value.toPrecision(2);
  }

  function nameOf(group) {
    const own = group.runs.length && !group.runs[0][view.policy];
    return algorithmOf.get(group.algorithm).name + (own ? " (deterministic)" : "");
  }

  // -- charts --------------------------------------------------------------------------------

  function timeTicks([low, high]) {
    if (view.x === "linear") return undefined;
    const decades = Math.log10(high / low);
    const factors = decades < 2 ? [1, 2, 5] : [1];
    return powers(low, high, factors);
  }

  function powers(low, high, factors) {
    const ticks = [];
    for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k += 1) {
      ticks.push(...factors.map((factor) => factor * 10 ** k));
    }
    return ticks.filter((tick) => tick >= low && tick <= high);
  }

  /** Where a signed logarithm turns linear: two decades below the largest return. */
  function linearReach([low, high]) {
    return 10 ** (Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high), 1e-9))) - 2);
  }

  function returnTicks([low, high]) {
    const reach = linearReach([low, high]);
    const largest = Math.max(Math.abs(low), Math.abs(high));
    const sizes = powers(reach, largest, low < 0 && high < 0 ? [1, 2, 5] : [1]);
    const ticks = [...sizes.map((size) => -size).reverse(), 0, ...sizes];
    return ticks.filter((tick) => tick >= low && tick <= high);
  }

  function axis(options) {
    return {
      stroke: () => css("--faint"),
      grid: { stroke: () => css("--grid"), width: 1 },
      ticks: { show: false },
      font: "12px system-ui, sans-serif",
      ...options,
    };
  }

  function timeAxis(label) {
    const [first, last] = timeRange();
    return {
      scale: {
        time: false,
        distr: view.x === "log" ? 3 : 1,
        range: () => (view.x === "log" ? [0.85 * first, 1.2 * last] : [0, 1.03 * last]),
      },
      axis: axis({
        label,
        labelSize: label ? 22 : 0,
        labelFont: "12px system-ui, sans-serif",
        size: 28,
        ...(view.x === "log" && { splits: () => timeTicks([0.85 * first, 1.2 * last]) }),
        values: (_, ticks) => ticks.map((tick) => compact.format(tick)),
      }),
    };
  }

  function sideWidth() {
    const names = groups().map((group) => nameOf(group).length);
    return Math.min(Math.max(48, 7.2 * Math.max(0, ...names) + 14), 0.4 * root.clientWidth);
  }

  function frame(box, height, options, rows) {
    box.replaceChildren();
    return new uPlot(
      {
        width: box.clientWidth,
        height,
        padding: [10, 14, 0, 0],
        legend: { show: false },
        cursor: { drag: { x: false, y: false }, points: { show: false }, x: true, y: false },
        ...options,
      },
      rows,
      box,
    );
  }

  function drawCurves() {
    curves?.destroy();
    const shown = groups().filter((group) => group.runs.length);
    const timesteps = [...new Set(shown.flatMap((group) => group.timesteps))].sort((a, b) => a - b);
    const rows = [timesteps];
    const series = [{}];
    const bands = [];
    for (const group of shown) {
      const algorithm = algorithmOf.get(group.algorithm);
      const colour = colourOf(group.algorithm);
      const place = new Map(group.timesteps.map((timestep, index) => [timestep, index]));
      const seeds = group.runs.map(returnsOf);
      const over = (statistic) =>
        timesteps.map((timestep) =>
          place.has(timestep) ? statistic(seeds.map((s) => s[place.get(timestep)])) : null,
        );
      const line = { spanGaps: true, points: { show: false } };
      bands.push({ series: [series.length + 1, series.length], fill: `${colour}22` });
      rows.push(over((v) => Math.min(...v)), over((v) => Math.max(...v)));
      rows.push(over((v) => v.reduce((sum, value) => sum + value, 0) / v.length));
      series.push({ ...line, width: 0 }, { ...line, width: 0 });
      series.push({ ...line, stroke: colour, width: algorithm.width, dash: algorithm.dashes });
    }
    const [low, high] = returnRange();
    const margin = 0.05 * (high - low || 1);
    const isLog = isLogReturn();
    const stretched = (value) => value + (value < 0 ? -0.3 : 0.3) * Math.abs(value);
    const range = isLog
      ? [low < 0 ? stretched(low) : 0, high > 0 ? stretched(high) : 0.9 * high]
      : [low - margin, high + margin];
    const time = timeAxis("timesteps");
    curves = frame(
      $("curves"),
      Math.max(280, Math.min(420, root.clientWidth * 0.5)),
      {
        scales: {
          x: time.scale,
          y: { distr: isLog ? 4 : 1, asinh: linearReach(range), range: () => range },
        },
        axes: [
          time.axis,
          axis({
            size: sideWidth(),
            ...(isLog && { splits: () => returnTicks(range) }),
            values: (_, ticks) => ticks.map(returnText),
          }),
        ],
        series,
        bands,
        hooks: { draw: [drawThreshold, drawSeeds], setCursor: [pointAtSeed] },
      },
      rows,
    );
    addHandle();
  }

  function drawThreshold(u) {
    placeHandle();
    const y = u.valToPos(threshold(), "y", true);
    const { ctx, bbox } = u;
    ctx.save();
    ctx.strokeStyle = css("--ink");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.restore();
  }

  /** The seeds of the algorithm under the pointer, thin, and the one under it, thick. */
  function drawSeeds(u) {
    if (!hovered || view.off.has(hovered.group.algorithm)) return;
    const { group, run, place } = hovered;
    const { ctx } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
    ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = colourOf(group.algorithm);
    for (const each of group.runs) {
      ctx.lineWidth = (each === run ? 2.5 : 0.75) * devicePixelRatio;
      ctx.beginPath();
      returnsOf(each).forEach((value, index) => {
        ctx.lineTo(u.valToPos(group.timesteps[index], "x", true), u.valToPos(value, "y", true));
      });
      ctx.stroke();
    }
    const x = u.valToPos(group.timesteps[place], "x", true);
    const y = u.valToPos(returnsOf(run)[place], "y", true);
    drawDot(ctx, x, y, 5);
    ctx.restore();
  }

  function drawDot(ctx, x, y, radius) {
    ctx.save();
    ctx.beginPath();
    ctx.arc(x, y, radius * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.lineWidth = devicePixelRatio;
    ctx.strokeStyle = css("--paper");
    ctx.stroke();
    ctx.restore();
  }

  function drawBoxes() {
    boxes?.destroy();
    const shown = groups();
    const time = timeAxis("timesteps to the threshold");
    boxes = frame(
      $("boxes"),
      Math.max(1, shown.length) * ROW_HEIGHT + 64,
      {
        scales: { x: time.scale, y: { range: () => [-0.5, shown.length - 0.5], dir: -1 } },
        axes: [
          time.axis,
          axis({
            size: sideWidth(),
            stroke: () => css("--ink"),
            splits: () => shown.map((_, row) => row),
            values: () => shown.map(nameOf),
            grid: { show: false },
          }),
        ],
        series: [{}, { show: false }],
        hooks: { draw: [(u) => shown.forEach((group, row) => drawRow(u, group, row))],
          setCursor: [pointAtArrival] },
      },
      [timeRange(), [0, 0]],
    );
  }

  const heightInRow = (group, index) =>
    0.42 * ((index - (group.runs.length - 1) / 2) / Math.max(1, group.runs.length));

  function drawRow(u, group, row) {
    const { ctx } = u;
    const times = arrivalsOf(group);
    const end = group.timesteps.at(-1);
    const x = (time) => u.valToPos(Math.min(time, end), "x", true);
    const y = (offset) => u.valToPos(row + offset, "y", true);
    const [middle, half] = [y(0), Math.abs(y(0.32) - y(0))];
    ctx.save();
    ctx.strokeStyle = css("--faint");
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.beginPath();
    ctx.moveTo(x(end), middle - half);
    ctx.lineTo(x(end), middle + half);
    ctx.stroke();
    ctx.strokeStyle = ctx.fillStyle = colourOf(group.algorithm);
    if (times.length >= FEWEST_FOR_A_BOX && times.every(Number.isFinite)) {
      const [low, q1, q2, q3, high] = [0, 0.25, 0.5, 0.75, 1].map((share) =>
        x(statistics.quantile(times, share)),
      );
      ctx.globalAlpha = 0.25;
      ctx.fillRect(q1, middle - half, Math.max(q3 - q1, 1), 2 * half);
      ctx.globalAlpha = 1;
      ctx.lineWidth = devicePixelRatio;
      ctx.strokeRect(q1, middle - half, Math.max(q3 - q1, 1), 2 * half);
      ctx.beginPath();
      ctx.moveTo(low, middle);
      ctx.lineTo(q1, middle);
      ctx.moveTo(q3, middle);
      ctx.lineTo(high, middle);
      ctx.stroke();
      ctx.lineWidth = 3 * devicePixelRatio;
      ctx.beginPath();
      ctx.moveTo(q2, middle - half);
      ctx.lineTo(q2, middle + half);
      ctx.stroke();
    }
    times.forEach((time, index) => {
      if (Number.isFinite(time)) drawDot(ctx, x(time), y(heightInRow(group, index)), 3);
    });
    const never = times.filter((time) => !Number.isFinite(time)).length;
    if (never || !times.length) {
      ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
      ctx.textBaseline = "middle";
      ctx.textAlign = "right";
      const text = times.length ? `${never} of ${times.length} never` : "no run";
      ctx.fillText(text, x(end) - 6 * devicePixelRatio, middle);
    }
    ctx.restore();
  }

  // -- the threshold -------------------------------------------------------------------------

  function addHandle() {
    const handle = document.createElement("div");
    handle.id = "handle";
    handle.tabIndex = 0;
    handle.setAttribute("role", "slider");
    handle.setAttribute("aria-orientation", "vertical");
    handle.setAttribute("aria-label", "Threshold: return that counts as learned");
    handle.append(document.createElement("span"));
    curves.over.append(handle);
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      event.preventDefault();
      handle.focus();
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const y = event.clientY - curves.over.getBoundingClientRect().top;
      setThreshold(rounded(curves.posToVal(y, "y"), curves.posToVal(y - 1, "y")));
    });
    handle.addEventListener("keydown", (event) => {
      const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };
      const [low, high] = returnRange();
      if (event.key in steps) setThreshold(threshold() + steps[event.key] * thresholdStep());
      else if (event.key === "Home") setThreshold(low);
      else if (event.key === "End") setThreshold(high);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  /** To as many digits as a pixel of the axis can tell apart. */
  function rounded(value, beside) {
    const step = 10 ** Math.floor(Math.log10(Math.abs(value - beside) || 1));
    return Math.round(value / step) * step;
  }

  function placeHandle() {
    const handle = $("handle");
    const [low, high] = returnRange();
    handle.style.top = `${curves.valToPos(threshold(), "y")}px`;
    handle.firstChild.textContent = returnText(threshold());
    handle.setAttribute("aria-valuenow", threshold());
    handle.setAttribute("aria-valuetext", `a return of ${returnText(threshold())}`);
    handle.setAttribute("aria-valuemin", low);
    handle.setAttribute("aria-valuemax", high);
    const input = $("threshold");
    if (document.activeElement !== input) input.value = threshold();
    input.step = thresholdStep();
    for (const button of $("registered").children) {
      button.setAttribute("aria-pressed", Number(button.value) === threshold());
    }
  }

  function setThreshold(value) {
    const [low, high] = returnRange();
    const within = Math.min(high, Math.max(low, value));
    view.threshold[view.environment] = Number(within.toPrecision(10));
    curves.redraw(false);
    followThreshold();
  }

  function followThreshold() {
    boxes.redraw(false);
    fillTable();
    remember();
    clearTimeout(announcing);
    announcing = setTimeout(announce, 700);
  }

  function announce() {
    const parts = groups().map((group) => {
      const { arrived, median } = outcome(group);
      return `${nameOf(group)} ${arrived} of ${group.runs.length}, median ${timeText(median, group)}`;
    });
    $("announcement").textContent =
      `Threshold ${returnText(threshold())}, ${view.arrival} arrival: ${parts.join("; ")}.`;
  }

  // -- the table that follows it -------------------------------------------------------------

  function fillTable() {
    const table = $("outcomes");
    const name = algorithmOf.get(view.reference).name;
    for (const place of root.querySelectorAll(".reference")) place.textContent = name;
    const body = table.tBodies[0];
    const shown = groups();
    const kept = new Map([...body.rows].map((row) => [row.dataset.key, row]));
    shown.forEach((group, place) => {
      const row = kept.get(group.algorithm) ?? document.createElement("tr");
      kept.delete(group.algorithm);
      row.dataset.key = group.algorithm;
      row.dataset.place = place;
      fillRow(row, group);
      body.append(row);
    });
    for (const row of kept.values()) row.remove();
    tables.refresh(table);
  }

  function fillRow(row, group) {
    const { times, arrived, median, effect, pValue } = outcome(group);
    const algorithm = algorithmOf.get(group.algorithm);
    const ends = [Math.min(...times), Math.max(...times)].map((time) => timeText(time, group));
    const cells = [
      [nameOf(group)],
      [algorithm.source],
      [`${arrived} of ${times.length}`, arrived],
      [times.length ? timeText(median, group) : "no run", median],
      [arrived ? `${ends[0]} to ${ends[1]}` : "never", Math.min(...times)],
      [effect === undefined ? "" : `${(100 * effect).toFixed(0)}% of pairs`, effect ?? Infinity],
      [pText(pValue), pValue ?? Infinity],
    ];
    cells.forEach(([text, key], column) => {
      const cell = row.cells[column] ?? row.appendChild(document.createElement(column ? "td" : "th"));
      if (!column) cell.scope = "row";
      if (column < 2) cell.className = "word";
      cell.textContent = text;
      if (key !== undefined) cell.dataset.sort = key;
    });
    row.cells[6].dataset.exact = pValue ?? "";
    row.cells[6].classList.toggle("clear", pValue <= data.level);
  }

  // -- seeds under the pointer or the arrow keys ---------------------------------------------

  function nearest(u, candidates) {
    const { left, top } = u.cursor;
    if (left < 0) return null;
    let best = null;
    let least = REACH;
    for (const { x, y, found } of candidates(left)) {
      const distance = Math.hypot(x - left, y - top);
      if (distance < least) [least, best] = [distance, found];
    }
    return best;
  }

  function pointAtSeed(u) {
    const found = nearest(u, function* (left) {
      const time = u.posToVal(left, "x");
      for (const group of groups()) {
        const after = group.timesteps.findIndex((timestep) => timestep >= time);
        const end = group.timesteps.length - 1;
        const places = after < 0 ? [end] : after ? [after - 1, after] : [0];
        for (const place of places) {
          const x = u.valToPos(group.timesteps[place], "x");
          for (const run of group.runs) {
            yield { x, y: u.valToPos(returnsOf(run)[place], "y"), found: { group, run, place } };
          }
        }
      }
    });
    showSeed(u, found);
  }

  function pointAtArrival(u) {
    const found = nearest(u, function* () {
      for (const [row, group] of groups().entries()) {
        const times = arrivalsOf(group);
        for (const [index, run] of group.runs.entries()) {
          const time = Math.min(times[index], group.timesteps.at(-1));
          yield {
            x: u.valToPos(time, "x"),
            y: u.valToPos(row + heightInRow(group, index), "y"),
            found: { group, run, place: group.timesteps.indexOf(time) },
          };
        }
      }
    });
    showSeed(u, found);
  }

  function showSeed(u, found) {
    const tip = $("tip");
    if (!found) {
      if (hovered) {
        hovered = null;
        curves.redraw(false);
      }
      tip.hidden = true;
      return;
    }
    hovered = found;
    curves.redraw(false);
    describeSeed(found);
    const over = u.over.getBoundingClientRect();
    const frameBox = root.getBoundingClientRect();
    const left = over.left - frameBox.left + u.cursor.left;
    tip.hidden = false;
    tip.replaceChildren(...seedLines(found));
    tip.style.top = `${over.top - frameBox.top + u.cursor.top + 16}px`;
    tip.style.left = `${Math.max(0, Math.min(left + 12, root.clientWidth - tip.offsetWidth - 4))}px`;
  }

  function seedLines({ group, run, place }) {
    const lines = [
      `${nameOf(group)}, seed ${run.seed}`,
      `return ${returnText(returnsOf(run)[place])} at timestep ${whole.format(group.timesteps[place])}`,
      run.file,
    ];
    return lines.map((text) => {
      const line = document.createElement("div");
      line.textContent = text;
      return line;
    });
  }

  function describeSeed({ group, run, place }) {
    const link = document.createElement("a");
    link.href = run.file.split("/").map(encodeURIComponent).join("/");
    link.textContent = run.file;
    $("seed").replaceChildren(
      `${nameOf(group)}, seed ${run.seed}: return ${returnText(returnsOf(run)[place])} ` +
        `at timestep ${whole.format(group.timesteps[place])}, run file `,
      link,
    );
  }

  /** Left and right walk along a run, up and down from seed to seed and from line to line. */
  function walk(event) {
    const shown = groups().filter((group) => group.runs.length);
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!shown.length || !(event.key in moves)) return;
    event.preventDefault();
    const all = shown.flatMap((group) => group.runs.map((run) => ({ group, run })));
    const [along, across] = moves[event.key];
    const index = hovered ? all.findIndex((each) => each.run === hovered.run) : -1;
    const next = index < 0 ? all[0] : all[(index + across + all.length) % all.length];
    const place = index < 0 ? 0 : hovered.place + along;
    hovered = { ...next, place: Math.max(0, Math.min(place, next.group.timesteps.length - 1)) };
    curves.redraw(false);
    describeSeed(hovered);
  }

  // -- switches ------------------------------------------------------------------------------

  function choices(id, pairs, chosen, change) {
    const box = $(id);
    for (const [value, text] of pairs) {
      const label = document.createElement("label");
      const input = document.createElement("input");
      Object.assign(input, { type: "radio", name: id, value });
      input.addEventListener("change", () => change(value));
      label.append(input, ` ${text}`);
      box.append(label);
    }
    box.choose = (value) => {
      for (const input of box.querySelectorAll("input")) input.checked = input.value === value;
    };
    box.choose(chosen);
  }

  function addSwitches() {
    data.kinds.forEach((kind, index) => {
      const own = data.algorithms.filter((algorithm) => algorithm.kind === index);
      if (!own.length) return;
      const set = document.createElement("fieldset");
      const legend = document.createElement("legend");
      const all = document.createElement("input");
      Object.assign(all, { type: "checkbox", value: kind, className: "kind" });
      const name = document.createElement("label");
      name.append(all, ` ${kind}`);
      legend.append(name);
      set.append(legend);
      all.addEventListener("change", () => {
        for (const { key } of own) view.off[all.checked ? "delete" : "add"](key);
        draw();
      });
      const box = document.createElement("div");
      box.append(...own.map(algorithmSwitch));
      set.append(box);
      $("switches").append(set);
    });
  }

  function algorithmSwitch(algorithm) {
    const label = document.createElement("label");
    const input = document.createElement("input");
    Object.assign(input, { type: "checkbox", value: algorithm.key, className: "algorithm" });
    input.addEventListener("change", () => {
      view.off[input.checked ? "delete" : "add"](algorithm.key);
      draw();
    });
    const swatch = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    swatch.setAttribute("viewBox", "0 0 28 8");
    swatch.setAttribute("class", "swatch");
    swatch.setAttribute("aria-hidden", "true");
    const line = document.createElementNS("http://www.w3.org/2000/svg", "line");
    const place = { x1: 0, x2: 28, y1: 4, y2: 4, "stroke-width": 2.5 };
    for (const [key, value] of Object.entries(place)) line.setAttribute(key, value);
    line.setAttribute("stroke-dasharray", algorithm.dashes.join(" "));
    swatch.append(line);
    label.append(input, swatch, algorithm.name);
    return label;
  }

  function showSwitches() {
    const here = new Set(environment().groups.map((group) => group.algorithm));
    for (const input of root.querySelectorAll("input.algorithm")) {
      input.checked = !view.off.has(input.value);
      input.disabled = !here.has(input.value);
      input.parentElement.querySelector("line").setAttribute("stroke", colourOf(input.value));
    }
    for (const kind of root.querySelectorAll("input.kind")) {
      const own = [...kind.closest("fieldset").querySelectorAll("input.algorithm")];
      const on = own.filter((input) => input.checked).length;
      kind.checked = on > 0;
      kind.indeterminate = on > 0 && on < own.length;
    }
    $("environments").choose(view.environment);
    $("policies").choose(view.policy);
    $("arrivals").choose(view.arrival);
    $("x-axis").choose(view.x);
    $("y-axis").choose(isLogReturn() ? "log" : "linear");
    $("reference").value = view.reference;
    $("registered").replaceChildren(
      ...environment().thresholds.map((value) => {
        const button = document.createElement("button");
        Object.assign(button, { type: "button", value, textContent: returnText(value) });
        button.addEventListener("click", () => setThreshold(value));
        return button;
      }),
    );
  }

  function addControls() {
    const names = data.environments.map(({ name }) => [name, name]);
    const set = (key) => (value) => {
      view[key] = value;
      hovered = null;
      draw();
    };
    choices("environments", names, view.environment, set("environment"));
    choices("policies", [["deterministic", "deterministic"], ["sampled", "sampled"]], view.policy, set("policy"));
    choices("arrivals", [["first", "first"], ["lasting", "lasting"]], view.arrival, set("arrival"));
    choices("x-axis", [["log", "log"], ["linear", "linear"]], view.x, set("x"));
    choices("y-axis", [["linear", "linear"], ["log", "log"]], "linear", set("y"));
    addSwitches();
    for (const { key, name } of data.algorithms) $("reference").append(new Option(name, key));
    $("reference").addEventListener("change", (event) => set("reference")(event.target.value));
    $("threshold").addEventListener("input", (event) => {
      if (event.target.value !== "") setThreshold(event.target.valueAsNumber);
    });
    $("curves").addEventListener("keydown", walk);
    $("reset").addEventListener("click", () => restore(""));
    $("copy").addEventListener("click", copyLink);
    $("theme").addEventListener("click", () => {
      view.theme = isDark() ? "light" : "dark";
      draw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
    for (const element of root.querySelectorAll("[data-leave]")) {
      element.addEventListener("pointerleave", () => ($("tip").hidden = true));
    }
  }

  // -- the address ---------------------------------------------------------------------------

  const sortable = [...document.querySelectorAll("table")];
  const verdicts = [...document.querySelectorAll("details.claim")];

  function address() {
    const found = new URLSearchParams();
    for (const key of Object.keys(defaults)) {
      if (view[key] !== defaults[key]) found.set(key, view[key]);
    }
    for (const [name, value] of Object.entries(view.threshold)) {
      if (value !== environmentOf.get(name).thresholds[0]) found.append("threshold", `${name}:${value}`);
    }
    const off = data.algorithms.map(({ key }) => key).filter((key) => view.off.has(key));
    if (off.join() !== offAtFirst.join()) found.set("off", off.join(" "));
    if (view.theme) found.set("theme", view.theme);
    const open = verdicts.filter((verdict) => verdict.open).map((verdict) => verdict.id);
    if (open.length) found.set("open", open.join(" "));
    sortable.forEach((table, index) => {
      const order = tables.order(table);
      if (order) found.append("sort", `${index}:${order.column}:${order.direction}`);
    });
    return found.toString();
  }

  function remember() {
    const place = address();
    const plain = location.hash && !location.hash.includes("=");
    if (!place && plain) return;
    history.replaceState(null, "", place ? `#${place}` : location.pathname + location.search);
  }

  const OPTIONS = {
    environment: (value) => environmentOf.has(value),
    policy: (value) => ["deterministic", "sampled"].includes(value),
    arrival: (value) => ["first", "lasting"].includes(value),
    x: (value) => ["log", "linear"].includes(value),
    y: (value) => ["auto", "log", "linear"].includes(value),
    reference: (value) => algorithmOf.has(value),
  };

  /** Show the view of an address; what it does not know is left at its default. */
  function restore(text) {
    const asked = new URLSearchParams(text);
    for (const key of Object.keys(defaults)) {
      view[key] = asked.has(key) && OPTIONS[key](asked.get(key)) ? asked.get(key) : defaults[key];
    }
    view.threshold = {};
    for (const entry of asked.getAll("threshold")) {
      const [, name, value] = entry.match(/^(.*):(.*)$/) ?? [];
      if (environmentOf.has(name) && value !== "" && Number.isFinite(Number(value))) {
        view.threshold[name] = Number(value);
      }
    }
    const off = asked.has("off") ? asked.get("off").split(" ") : offAtFirst;
    view.off = new Set(off.filter((key) => algorithmOf.has(key)));
    view.theme = ["dark", "light"].includes(asked.get("theme")) ? asked.get("theme") : "";
    const open = (asked.get("open") ?? "").split(" ");
    for (const verdict of verdicts) verdict.open = open.includes(verdict.id);
    const orders = new Map(asked.getAll("sort").map((entry) => [entry.split(":")[0], entry]));
    draw();
    sortable.forEach((table, index) => {
      const [, column, direction] = (orders.get(String(index)) ?? ":0:none").split(":");
      const known = Number(column) in table.tHead.rows[0].cells;
      const direct = ["ascending", "descending"].includes(direction);
      if (known && (direct || tables.order(table))) tables.arrange(table, Number(column), direction);
    });
    remember();
  }

  async function copyLink() {
    remember();
    try {
      await navigator.clipboard.writeText(location.href);
      $("copied").textContent = "Copied: the link opens this view.";
    } catch {
      $("copied").textContent = "The address of this page opens this view.";
    }
  }

  function readAddress(event) {
    const text = location.hash.slice(1);
    if (text.includes("=")) {
      restore(text);
      if (event) $("figures").scrollIntoView(); // a link was followed in the page
    } else if (text) {
      $(decodeURIComponent(text))?.closest("details")?.setAttribute("open", "");
    }
  }

  // -- all of it -----------------------------------------------------------------------------

  function draw() {
    document.documentElement.dataset.theme = view.theme;
    $("theme").setAttribute("aria-pressed", isDark());
    showSwitches();
    drawCurves();
    drawBoxes();
    followThreshold();
  }

  root.hidden = false;
  document.documentElement.classList.add("scripted");
  for (const table of sortable) tables.makeSortable(table, remember);
  for (const verdict of verdicts) verdict.addEventListener("toggle", remember);
  addControls();
  if (!location.hash.includes("=")) draw();
  readAddress();
  addEventListener("hashchange", readAddress);
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    draw();
  }).observe(root);

  // -- what downloads.js saves ---------------------------------------------------------------

  function curveRows(shown) {
    const rows = [["environment", "algorithm", "policy", "seed", "timestep", "return"]];
    for (const group of shown) {
      for (const run of group.runs) {
        const head = [view.environment, group.algorithm, policyOf(run), run.seed];
        returnsOf(run).forEach((value, index) => rows.push([...head, group.timesteps[index], value]));
      }
    }
    return rows;
  }

  /** One row per run; a run that never arrives has an empty cell. */
  function arrivalRows(shown) {
    const arrival = `${view.arrival}_arrival`;
    const rows = [["environment", "algorithm", "policy", "seed", "threshold", "timesteps", arrival]];
    for (const group of shown) {
      const times = arrivalsOf(group).map((time) => (Number.isFinite(time) ? time : ""));
      group.runs.forEach((run, index) => {
        const head = [view.environment, group.algorithm, policyOf(run), run.seed];
        rows.push([...head, threshold(), group.timesteps.at(-1), times[index]]);
      });
    }
    return rows;
  }

  /** A chart as it is shown, its data and its words. */
  function shown(chart) {
    const own = groups();
    const isCurves = chart === "curves";
    const what = isCurves ? "training curves" : `${view.arrival} arrival at ${returnText(threshold())}`;
    return {
      canvas: (isCurves ? curves : boxes).ctx.canvas,
      rows: isCurves ? curveRows(own) : arrivalRows(own),
      title: `${view.environment}: ${what}, ${view.policy} policy`,
      name: `${view.environment}-${isCurves ? "curves" : "arrivals"}-${view.policy}`,
      legend: own.map((group) => ({
        name: nameOf(group),
        colour: colourOf(group.algorithm),
        dashes: algorithmOf.get(group.algorithm).dashes,
      })),
    };
  }

  return { shown, scales: () => [curves.scales.x.distr, curves.scales.y.distr] };
})();
