// The charts to explore: curves, a threshold to drag, and when each run reaches it.
// What the reader chooses is in `view`, and the address holds what differs from the defaults.
const explorer = (() => {
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const root = document.getElementById("explorer");
  const $ = (id) => document.getElementById(id);
  const ROW = 19; // height of a row of points, in pixels
  const REACH = 30; // pixels within which the pointer finds a seed
  const SQUASHING = 20; // as in suite/plots/training_curves.py
  const LAPSES = 1 / 20; // as in suite/results/arrivals.py
  const OPTIONS = {
    starts: ["random", "fixed"],
    policies: ["both", "greedy", "sampled"],
    times: ["first", "lasting"],
    x: ["log", "linear"],
    y: ["auto", "linear", "log"],
    band: ["off", "on"],
  };
  const algorithmOf = new Map(data.algorithms.map((each) => [each.key, each]));
  const offAtFirst = data.algorithms.filter(({ shown }) => !shown).map(({ key }) => key);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const view = {};
  let hovered = null; // { panel, line, run, place }

  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  /** Lighter on dark paper. */
  const adapted = (text) => `light-dark(${text}, color-mix(in srgb, ${text} 60%, white))`;

  /** A colour of the style sheet as a canvas can use it. */
  function computed(text) {
    $("probe").style.color = text;
    return getComputedStyle($("probe")).color;
  }

  const colour = (text) => computed(adapted(text));
  const css = (name) => computed(`var(${name})`);

  // -- what is shown -------------------------------------------------------------------------

  const thresholdOf = (panel) => view.threshold[panel.name] ?? panel.thresholds[0];

  /** One line per algorithm and policy; runs that are missing leave a line without any. */
  function linesOf(panel) {
    const wanted = view.policies === "both" ? ["greedy", "sampled"] : [view.policies];
    return panel[view.starts]
      .filter((group) => !view.off.has(group.algorithm))
      .flatMap((group) => {
        const own = wanted.filter((policy) => policy in group.policies);
        const shown = group.runs.length || view.policies === "sampled" ? own : ["greedy"];
        return shown.map((policy) => ({
          ...algorithmOf.get(group.algorithm),
          policy,
          timesteps: group.timesteps,
          curve: group.policies[policy],
          runs: group.runs.map((run) => ({ seed: run.seed, file: run.file, returns: run[policy] })),
        }));
      })
      .sort((a, b) => data.algorithms.findIndex(({ key }) => key === a.key) -
        data.algorithms.findIndex(({ key }) => key === b.key));
  }

  const nameOf = (line) => line.name + (line.policy === "sampled" ? ", sampled" : "");

  /** Timesteps to the threshold, infinite for a run that never reaches it. */
  function timeOf(line, run, threshold) {
    const above = run.returns.map((value) => value >= threshold);
    if (view.times === "first") return line.timesteps[above.indexOf(true)] ?? Infinity;
    let [time, lapses] = [Infinity, 0];
    for (let i = above.length - 1; i >= 0; i -= 1) {
      lapses += above[i] ? 0 : 1;
      if (above[i] && lapses <= LAPSES * (above.length - i)) time = line.timesteps[i];
    }
    return time;
  }

  const timesOf = (panel, line) => line.runs.map((run) => timeOf(line, run, thresholdOf(panel)));

  function median(times) {
    const sorted = [...times].sort((a, b) => a - b);
    const middle = Math.floor(sorted.length / 2);
    return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /** Over all that could be shown, so that no switch moves an axis or a threshold. */
  function rangeOf(panel) {
    const groups = [...panel.random, ...panel.fixed];
    const curves = groups.flatMap((group) => Object.values(group.policies));
    const values = [...curves.flatMap((curve) => [...curve.min, ...curve.max]), ...panel.thresholds];
    const times = groups.flatMap((group) => [group.timesteps[0], group.timesteps.at(-1)]);
    const ends = (all) => all.reduce(([a, b], v) => [Math.min(a, v), Math.max(b, v)], [Infinity, -Infinity]);
    return { returns: ends(values), times: ends(times) };
  }

  const isLogReturn = (panel) =>
    view.y === "auto"
      ? panel.range.returns[0] < -SQUASHING * Math.max(1, ...panel.thresholds.map(Math.abs))
      : view.y === "log";

  // -- words ---------------------------------------------------------------------------------

  const whole = new Intl.NumberFormat("en");
  const compact = new Intl.NumberFormat("en", { notation: "compact" });
  const decimal = new Intl.NumberFormat("en", { maximumSignificantDigits: 6 });
  const returnText = (value) => decimal.format(value).replace("-", "\u2212");

  // -- charts --------------------------------------------------------------------------------

  function powers(low, high, factors) {
    const ticks = [];
    for (let k = Math.floor(Math.log10(low)); k <= Math.ceil(Math.log10(high)); k += 1) {
      ticks.push(...factors.map((factor) => factor * 10 ** k));
    }
    return ticks.filter((tick) => tick >= low && tick <= high);
  }

  /** Where a signed logarithm turns linear: two decades below the largest return. */
  const linearReach = (ends) => 10 ** (Math.floor(Math.log10(Math.max(...ends.map(Math.abs), 1e-9))) - 2);

  function returnTicks([low, high]) {
    const sizes = powers(linearReach([low, high]), Math.max(-low, high), low < 0 && high < 0 ? [1, 2, 5] : [1]);
    return [...sizes.map((size) => -size).reverse(), 0, ...sizes].filter((tick) => tick >= low && tick <= high);
  }

  const axis = (options) => ({
    stroke: () => css("--faint"),
    grid: { stroke: () => css("--grid"), width: 1 },
    ticks: { show: false },
    font: "12px system-ui, sans-serif",
    filter: (_, ticks) => ticks,
    ...options,
  });

  function timeAxis(panel, label) {
    const [first, last] = panel.range.times;
    const isLog = view.x === "log";
    const range = isLog ? [0.85 * first, 1.2 * last] : [0, 1.03 * last];
    return {
      scale: { time: false, distr: isLog ? 3 : 1, range: () => range },
      axis: axis({
        label,
        labelSize: 18,
        labelFont: "12px system-ui, sans-serif",
        size: 24,
        ...(isLog && { splits: () => powers(...range, [1]) }),
        values: (_, ticks) => ticks.map((tick) => compact.format(tick)),
      }),
    };
  }

  function frame(box, height, options, rows) {
    box.replaceChildren();
    const cursor = { drag: { x: false, y: false }, points: { show: false }, x: true, y: false };
    const size = { width: box.clientWidth, height };
    return new uPlot({ ...size, legend: { show: false }, cursor, ...options }, rows, box);
  }

  function drawCurves(panel) {
    panel.curves?.destroy();
    const lines = linesOf(panel).filter((line) => line.runs.length);
    const timesteps = [...new Set(lines.flatMap((line) => line.timesteps))].sort((a, b) => a - b);
    const rows = [timesteps];
    const series = [{}];
    const bands = [];
    for (const line of lines) {
      const stroke = colour(line.colour);
      const place = new Map(line.timesteps.map((timestep, index) => [timestep, index]));
      const at = (values) => timesteps.map((timestep) => values[place.get(timestep)] ?? null);
      const style = { spanGaps: true, points: { show: false } };
      if (view.band === "on") {
        bands.push({ series: [series.length + 1, series.length], fill: computed(`color-mix(in srgb, ${adapted(line.colour)} 13%, transparent)`) });
        rows.push(at(line.curve.min), at(line.curve.max));
        series.push({ ...style, width: 0 }, { ...style, width: 0 });
      }
      rows.push(at(line.curve.mean));
      const width = line.key === "powr" ? 2.75 : 1.5;
      series.push({ ...style, stroke, width, dash: line.policy === "sampled" ? [5, 4] : [] });
    }
    const [low, high] = panel.range.returns;
    const isLog = isLogReturn(panel);
    const margin = 0.05 * (high - low || 1);
    const stretched = (value) => value + (value < 0 ? -0.3 : 0.3) * Math.abs(value);
    const range = isLog
      ? [low < 0 ? stretched(low) : 0, high > 0 ? stretched(high) : 0.9 * high]
      : [low - margin, high + margin];
    const time = timeAxis(panel, "timesteps");
    panel.curves = frame(
      panel.boxes.curves,
      320,
      {
        padding: [10, 8, 0, 0],
        scales: { x: time.scale, y: { distr: isLog ? 4 : 1, asinh: linearReach(range), range: () => range } },
        axes: [
          time.axis,
          axis({
            size: 54,
            ...(isLog && { splits: () => returnTicks(range) }),
            values: (_, ticks) => ticks.map(returnText),
          }),
        ],
        series,
        bands,
        hooks: {
          draw: [(u) => drawThreshold(panel, u), (u) => drawSeeds(panel, u)],
          setCursor: [(u) => point(panel, u, seedsNear(panel, u))],
        },
      },
      rows,
    );
    addHandle(panel);
  }

  function drawThreshold(panel, u) {
    placeHandle(panel);
    const { ctx, bbox } = u;
    const y = u.valToPos(thresholdOf(panel), "y", true);
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

  /** The seeds of the line under the pointer, thin, and the one under it, thick. */
  function drawSeeds(panel, u) {
    if (hovered?.panel !== panel) return;
    const { line, run, place } = hovered;
    const { ctx, bbox } = u;
    const at = (each, index) => [
      u.valToPos(line.timesteps[index], "x", true),
      u.valToPos(each.returns[index], "y", true),
    ];
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = ctx.fillStyle = colour(line.colour);
    for (const each of line.runs) {
      ctx.lineWidth = (each.seed === run.seed ? 2.5 : 0.75) * devicePixelRatio;
      ctx.beginPath();
      each.returns.forEach((_, index) => ctx.lineTo(...at(each, index)));
      ctx.stroke();
    }
    drawDot(ctx, ...at(run, place), 5, true);
    ctx.restore();
  }

  function drawDot(ctx, x, y, radius, isFull) {
    const [fill, stroke] = isFull ? [ctx.fillStyle, css("--paper")] : [css("--paper"), ctx.fillStyle];
    ctx.save();
    ctx.beginPath();
    ctx.arc(x, y, radius * devicePixelRatio, 0, 2 * Math.PI);
    ctx.fillStyle = fill;
    ctx.strokeStyle = stroke;
    ctx.lineWidth = (isFull ? 1 : 1.5) * devicePixelRatio;
    ctx.fill();
    ctx.stroke();
    ctx.restore();
  }

  function drawPoints(panel) {
    panel.points?.destroy();
    const lines = linesOf(panel);
    const time = timeAxis(panel, "timesteps to the threshold");
    panel.points = frame(
      panel.boxes.points,
      Math.max(1, lines.length) * ROW + 52,
      {
        padding: [8, 58, 0, 0], // counts stand at the right, beside the points and not over them
        scales: { x: time.scale, y: { range: () => [-0.5, lines.length - 0.5], dir: -1 } },
        axes: [
          time.axis,
          axis({
            size: 108,
            stroke: () => css("--ink"),
            splits: () => lines.map((_, row) => row),
            values: () => lines.map((line, row) => (lines[row - 1]?.key === line.key ? "sampled" : nameOf(line))),
            grid: { show: false },
          }),
        ],
        series: [{}, { show: false }],
        hooks: {
          draw: [(u) => lines.forEach((line, row) => drawRow(panel, u, line, row))],
          setCursor: [(u) => point(panel, u, timesNear(panel, u, lines))],
        },
      },
      [panel.range.times, [0, 0]],
    );
  }

  const offset = (line, index) => 0.5 * ((index - (line.runs.length - 1) / 2) / Math.max(1, line.runs.length));

  function drawRow(panel, u, line, row) {
    const { ctx, bbox } = u;
    const times = timesOf(panel, line);
    const reached = times.filter(Number.isFinite);
    const x = (time) => u.valToPos(time, "x", true);
    const y = (value) => u.valToPos(row + value, "y", true);
    ctx.save();
    ctx.fillStyle = ctx.strokeStyle = colour(line.colour);
    times.forEach((time, index) => {
      if (Number.isFinite(time)) drawDot(ctx, x(time), y(offset(line, index)), 3, line.policy === "greedy");
    });
    if (Number.isFinite(median(times))) {
      ctx.fillStyle = css("--ink");
      ctx.fillRect(x(median(times)) - devicePixelRatio, y(-0.45), 2 * devicePixelRatio, y(0.45) - y(-0.45));
      ctx.fillStyle = colour(line.colour);
    }
    ctx.font = `${12 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textBaseline = "middle";
    ctx.textAlign = "left";
    const text = times.length ? `${reached.length} of ${times.length}` : "not run";
    ctx.fillText(text, bbox.left + bbox.width + 8 * devicePixelRatio, y(0));
    ctx.restore();
  }

  // -- the threshold -------------------------------------------------------------------------

  function addHandle(panel) {
    const handle = element("div", { className: "handle", tabIndex: 0 }, element("span"));
    handle.setAttribute("role", "slider");
    handle.setAttribute("aria-orientation", "vertical");
    handle.setAttribute("aria-label", `Return on ${panel.name} that counts as learned`);
    panel.handle = handle;
    panel.curves.over.append(handle);
    placeHandle(panel);
    handle.addEventListener("pointerdown", (event) => {
      handle.setPointerCapture(event.pointerId);
      event.preventDefault();
      handle.focus();
    });
    handle.addEventListener("pointermove", (event) => {
      if (!handle.hasPointerCapture(event.pointerId)) return;
      const y = event.clientY - panel.curves.over.getBoundingClientRect().top;
      const [value, beside] = [y, y - 1].map((place) => panel.curves.posToVal(place, "y"));
      // To as many digits as a pixel of the axis can tell apart.
      const step = 10 ** Math.floor(Math.log10(Math.abs(value - beside) || 1));
      setThreshold(panel, Math.round(value / step) * step);
    });
    handle.addEventListener("keydown", (event) => {
      const steps = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1, PageUp: 10, PageDown: -10 };
      if (!(event.key in steps)) return;
      setThreshold(panel, thresholdOf(panel) + steps[event.key] * panel.step);
      event.preventDefault();
    });
  }

  function placeHandle(panel) {
    const { handle } = panel;
    const value = thresholdOf(panel);
    if (!handle?.isConnected) return;
    handle.style.top = `${panel.curves.valToPos(value, "y")}px`;
    handle.firstChild.textContent = returnText(value);
    const [low, high] = panel.range.returns;
    Object.entries({ now: value, text: `a return of ${returnText(value)}`, min: low, max: high }).forEach(
      ([key, each]) => handle.setAttribute(`aria-value${key}`, each),
    );
    if (document.activeElement !== panel.input) panel.input.value = value;
    for (const button of panel.buttons) button.setAttribute("aria-pressed", Number(button.value) === value);
  }

  function setThreshold(panel, value) {
    const [low, high] = panel.range.returns;
    view.threshold[panel.name] = Number(Math.min(high, Math.max(low, value)).toPrecision(10));
    panel.curves.redraw(false);
    panel.points.redraw(false);
    remember();
  }

  // -- what is under the pointer -------------------------------------------------------------

  function* seedsNear(panel, u) {
    const time = u.posToVal(u.cursor.left, "x");
    for (const line of linesOf(panel)) {
      const after = line.timesteps.findIndex((timestep) => timestep >= time);
      const end = line.timesteps.length - 1;
      for (const place of after < 0 ? [end] : after ? [after - 1, after] : [0]) {
        const x = u.valToPos(line.timesteps[place], "x");
        for (const run of line.runs) yield { x, y: u.valToPos(run.returns[place], "y"), line, run, place };
      }
    }
  }

  function* timesNear(panel, u, lines) {
    for (const [row, line] of lines.entries()) {
      for (const [index, time] of timesOf(panel, line).entries()) {
        const place = line.timesteps.indexOf(time);
        const y = u.valToPos(row + offset(line, index), "y");
        if (place >= 0) yield { x: u.valToPos(time, "x"), y, line, run: line.runs[index], place };
      }
    }
  }

  function point(panel, u, candidates) {
    const { left, top } = u.cursor;
    let [found, least] = [null, REACH];
    for (const each of left < 0 ? [] : candidates) {
      const distance = Math.hypot(each.x - left, each.y - top);
      if (distance < least) [found, least] = [each, distance];
    }
    if (!found && !hovered) return;
    hovered = found && { panel, ...found };
    panel.curves.redraw(false);
    const tip = $("tip");
    tip.hidden = !found;
    if (!found) return;
    const { line, run, place } = found;
    const words = [
      `${nameOf(line)}, seed ${run.seed}`,
      `return ${returnText(run.returns[place])} at timestep ${whole.format(line.timesteps[place])}`,
      run.file.replace("../", ""),
    ];
    tip.replaceChildren(...words.map((text) => element("div", {}, text)));
    const [over, frameBox] = [u.over, root].map((each) => each.getBoundingClientRect());
    const right = root.clientWidth - tip.offsetWidth - 4;
    tip.style.top = `${over.top - frameBox.top + top + 16}px`;
    tip.style.left = `${Math.max(0, Math.min(over.left - frameBox.left + left + 12, right))}px`;
  }

  // -- switches ------------------------------------------------------------------------------

  const panels = data.environments.map((environment) => {
    const panel = { ...environment, range: null, boxes: {}, buttons: [] };
    panel.range = rangeOf(panel);
    panel.step = 10 ** Math.round(Math.log10((Math.abs(panel.thresholds[0]) || 1) / 100));
    panel.input = element("input", { type: "number", step: panel.step, ariaLabel: `Threshold on ${panel.name}` });
    panel.input.addEventListener("input", () => {
      if (panel.input.value !== "") setThreshold(panel, panel.input.valueAsNumber);
    });
    for (const value of panel.thresholds) {
      const button = element("button", { type: "button", value }, returnText(value));
      button.addEventListener("click", () => setThreshold(panel, value));
      panel.buttons.push(button);
    }
    for (const name of ["curves", "points"]) {
      panel.boxes[name] = element("div", { className: name });
      panel.boxes[name].addEventListener("pointerleave", () => ($("tip").hidden = true));
    }
    const controls = element("p", {}, "Threshold ", panel.input, " ", ...panel.buttons);
    const section = element("section", { className: "panel" }, element("h3", {}, panel.name), controls);
    section.append(panel.boxes.curves, panel.boxes.points);
    $("panels").append(section);
    return panel;
  });

  for (const [key, values] of Object.entries(OPTIONS)) {
    for (const value of values.filter((each) => each !== "auto")) {
      const input = element("input", { type: "radio", name: key, value });
      input.addEventListener("change", () => {
        view[key] = value;
        draw();
      });
      $(key).append(element("label", {}, input, ` ${value}`));
    }
  }

  for (const kind of new Set(data.algorithms.map((each) => each.kind))) {
    const legend = element("legend", {}, kind);
    const own = data.algorithms.filter((each) => each.kind === kind);
    $("algorithms").append(element("fieldset", {}, legend, element("div", {}, ...own.map(switchOf))));
  }

  function switchOf({ key, name, colour: text }) {
    const input = element("input", { type: "checkbox", value: key });
    input.addEventListener("change", () => {
      view.off[input.checked ? "delete" : "add"](key);
      draw();
    });
    const swatch = element("i");
    swatch.style.background = adapted(text);
    return element("label", {}, input, swatch, name);
  }

  function draw() {
    hovered = null;
    $("tip").hidden = true;
    for (const key of Object.keys(OPTIONS)) {
      for (const input of $(key).querySelectorAll("input")) input.checked = input.value === view[key];
    }
    for (const input of $("algorithms").querySelectorAll("input")) input.checked = !view.off.has(input.value);
    for (const panel of panels) {
      drawCurves(panel);
      drawPoints(panel);
    }
    remember();
  }

  // -- the address ---------------------------------------------------------------------------

  function address() {
    const found = new URLSearchParams();
    for (const [key, values] of Object.entries(OPTIONS)) {
      if (view[key] !== values[0]) found.set(key, view[key]);
    }
    for (const { name, thresholds } of panels) {
      const value = view.threshold[name] ?? thresholds[0];
      if (value !== thresholds[0]) found.append("threshold", `${name}:${value}`);
    }
    const off = [...view.off].sort();
    if (off.join() !== [...offAtFirst].sort().join()) found.set("off", off.join(" "));
    return found.toString();
  }

  function remember() {
    const place = address();
    if (!place && !location.hash.includes("=")) return;
    history.replaceState(null, "", place ? `#${place}` : location.pathname + location.search);
  }

  /** Show the view of an address; what it does not know is left at its default. */
  function restore(text) {
    const asked = new URLSearchParams(text);
    for (const [key, values] of Object.entries(OPTIONS)) {
      view[key] = values.includes(asked.get(key)) ? asked.get(key) : values[0];
    }
    view.threshold = {};
    for (const entry of asked.getAll("threshold")) {
      const [, name, value] = entry.match(/^(.*):(.+)$/) ?? [];
      if (Number.isFinite(Number(value))) view.threshold[name] = Number(value);
    }
    const off = asked.has("off") ? asked.get("off").split(" ") : offAtFirst;
    view.off = new Set(off.filter((key) => algorithmOf.has(key)));
    draw();
  }

  /** Open what the address names, and everything around it, and go there. */
  function follow() {
    const text = location.hash.slice(1);
    if (text.includes("=")) {
      restore(text);
      return $("explore").scrollIntoView();
    }
    const target = $(decodeURIComponent(text));
    if (!target) return undefined;
    target.querySelector(":scope > details")?.setAttribute("open", "");
    for (let around = target; around; around = around.parentElement) {
      if (around.tagName === "DETAILS") around.open = true;
    }
    return target.scrollIntoView();
  }

  // -- downloads: from the page itself, so that they work from disk -----------------------------

  function save(name, content, type) {
    const link = element("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  /** One row per evaluation, or per run; a run that never reaches the threshold has an empty cell. */
  function rowsOf(chart) {
    const head = ["environment", "starts", "algorithm", "policy", "seed"];
    const rows = [[...head, ...(chart === "curves" ? ["timestep", "return"] : ["threshold", "timesteps", `${view.times}_time`])]];
    for (const panel of panels) {
      for (const line of linesOf(panel)) {
        for (const run of line.runs) {
          const key = [panel.name, view.starts, line.key, line.policy, run.seed];
          if (chart === "curves") {
            run.returns.forEach((value, index) => rows.push([...key, line.timesteps[index], value]));
          } else {
            const time = timeOf(line, run, thresholdOf(panel));
            rows.push([...key, thresholdOf(panel), line.timesteps.at(-1), Number.isFinite(time) ? time : ""]);
          }
        }
      }
    }
    return rows;
  }

  /** The three charts side by side on paper, under their names and above those of the lines. */
  function picture(chart) {
    const line = 20 * devicePixelRatio;
    const charts = panels.map((panel) => panel[chart].ctx.canvas);
    const canvas = element("canvas");
    const ctx = canvas.getContext("2d");
    const font = `${13 * devicePixelRatio}px system-ui, sans-serif`;
    const lines = new Map(panels.flatMap(linesOf).map((each) => [nameOf(each), each]));
    const height = Math.max(...charts.map((each) => each.height));
    canvas.width = charts.reduce((sum, each) => sum + each.width + line, line);
    const columns = Math.max(1, Math.floor((canvas.width - 2 * line) / (8 * line)));
    canvas.height = height + (4 + Math.ceil(lines.size / columns)) * line;
    ctx.fillStyle = css("--paper");
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    ctx.textBaseline = "middle";
    ctx.font = font;
    let left = line;
    charts.forEach((each, index) => {
      ctx.fillStyle = css("--ink");
      const { name } = panels[index];
      ctx.fillText(`${name}, ${view.starts} starts, threshold ${returnText(thresholdOf(panels[index]))}`, left, line);
      ctx.drawImage(each, left, 2 * line);
      left += each.width + line;
    });
    [...lines.values()].forEach((each, index) => {
      const [x, y] = [line + 8 * line * (index % columns), height + (3 + Math.floor(index / columns)) * line];
      ctx.strokeStyle = colour(each.colour);
      ctx.lineWidth = 2.5 * devicePixelRatio;
      ctx.setLineDash(each.policy === "sampled" ? [5 * devicePixelRatio, 4 * devicePixelRatio] : []);
      ctx.beginPath();
      ctx.moveTo(x, y);
      ctx.lineTo(x + 1.5 * line, y);
      ctx.stroke();
      ctx.fillStyle = css("--ink");
      ctx.fillText(nameOf(each), x + 1.75 * line, y);
    });
    return bytes(canvas.toDataURL("image/png").split(",")[1]);
  }

  for (const button of document.querySelectorAll("button[data-chart]")) {
    button.addEventListener("click", () => {
      const { chart, as } = button.dataset;
      if (as === "png") return save(`${chart}.png`, picture(chart), "image/png");
      return save(`${chart}.csv`, rowsOf(chart).map((row) => row.join(",") + "\n").join(""), "text/csv");
    });
  }
  for (const button of document.querySelectorAll("button[data-figure]")) {
    button.addEventListener("click", () => {
      const { src } = $(`figure-${button.dataset.figure}`);
      save(`${button.dataset.figure}.svg`, bytes(src.split(",")[1]), "image/svg+xml");
    });
  }

  // -- all of it -----------------------------------------------------------------------------

  document.documentElement.classList.add("has-script");
  $("reset").addEventListener("click", () => restore(""));
  dark.addEventListener("change", draw);
  if (!location.hash.includes("=")) restore("");
  follow();
  addEventListener("hashchange", follow);
  let width = root.clientWidth;
  new ResizeObserver(() => {
    if (root.clientWidth === width) return;
    width = root.clientWidth;
    draw();
  }).observe(root);
})();
