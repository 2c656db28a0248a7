// Buttons that save what is shown: a chart as PNG, its data as CSV, a figure as SVG. All from the
// page itself, so that they work from disk.
(() => {
  const MARGIN = 16;
  const LINE = 20;

  function save(name, content, type) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([content], { type }));
    link.download = name;
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  const quoted = (cell) => (/[",\n]/.test(cell) ? `"${String(cell).replaceAll('"', '""')}"` : cell);
  const csv = (rows) => rows.map((row) => row.map(quoted).join(",") + "\n").join("");

  /** The chart on paper, under a title and above the names of its lines. */
  function picture(chart, title, legend) {
    const ratio = devicePixelRatio;
    const [margin, line] = [MARGIN * ratio, LINE * ratio];
    const canvas = document.createElement("canvas");
    const style = getComputedStyle(document.body);
    const ctx = canvas.getContext("2d");
    const font = (weight) => `${weight} ${13 * ratio}px system-ui, sans-serif`;
    ctx.font = font("normal");
    const widths = legend.map(({ name }) => ctx.measureText(name).width + 3 * line);
    const places = [];
    let [x, row] = [0, 0];
    for (const width of widths) {
      if (x && x + width > chart.width) [x, row] = [0, row + 1];
      places.push([x, row]);
      x += width;
    }
    canvas.width = chart.width + 2 * margin;
    canvas.height = chart.height + 2 * margin + (row + 2.5) * line;
    ctx.fillStyle = style.backgroundColor;
    ctx.fillRect(0, 0, canvas.width, canvas.height);
    ctx.fillStyle = style.color;
    ctx.textBaseline = "middle";
    ctx.font = font("bold");
    ctx.fillText(title, margin, margin + line / 2);
    ctx.drawImage(chart, margin, margin + 1.25 * line);
    ctx.font = font("normal");
    legend.forEach(({ name, colour, dashes }, index) => {
      const [left, down] = [margin + places[index][0], margin + chart.height + (places[index][1] + 2) * line];
      ctx.strokeStyle = colour;
      ctx.lineWidth = 2.5 * ratio;
      ctx.setLineDash(dashes.map((length) => length * ratio));
      ctx.beginPath();
      ctx.moveTo(left, down);
      ctx.lineTo(left + 1.5 * line, down);
      ctx.stroke();
      ctx.fillText(name, left + 1.75 * line, down);
    });
    return canvas;
  }

  const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));

  for (const button of document.querySelectorAll("button[data-chart]")) {
    button.addEventListener("click", () => {
      const { canvas, title, name, legend, rows } = explorer.shown(button.dataset.chart);
      if (button.dataset.as === "csv") return save(`${name}.csv`, csv(rows), "text/csv");
      const drawn = picture(canvas, title, legend).toDataURL("image/png").split(",")[1];
      return save(`${name}.png`, bytes(drawn), "image/png");
    });
  }
  for (const button of document.querySelectorAll("button[data-figure]")) {
    button.addEventListener("click", () => {
      const source = document.getElementById(`figure-${button.dataset.figure}`).src;
      save(`${button.dataset.figure}.svg`, bytes(source.split(",")[1]), "image/svg+xml");
    });
  }
})();
