'use strict';
// Nothing here is needed to read the report: curves are toggled, a crosshair reads the table behind a chart, and the
// table of clauses is filtered.
function toggles(figure) {
  figure.querySelector('svg').setAttribute('role', 'group'); // a picture may have no buttons in it
  for (const key of figure.querySelectorAll('.key')) {
    const curve = figure.querySelector('.curve[data-curve="' + key.dataset.curve + '"]');
    key.setAttribute('role', 'button');
    key.setAttribute('tabindex', '0');
    key.setAttribute('aria-pressed', 'true');
    key.setAttribute('aria-label', 'show ' + key.textContent);
    const flip = () => {
      const off = curve.classList.toggle('off');
      key.classList.toggle('off', off);
      key.setAttribute('aria-pressed', String(!off));
    };
    key.addEventListener('click', flip);
    key.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); flip(); }
    });
  }
}
function crosshair(figure) {
  const svg = figure.querySelector('svg');
  const points = [...figure.querySelectorAll('.curve polyline')].map((line) =>
    line.getAttribute('points').trim().split(' ').map((p) => Number(p.split(',')[0])));
  const rows = figure.querySelectorAll('tbody tr');
  const titles = [...figure.querySelectorAll('thead th')].map((t) => t.textContent);
  const xs = points.sort((a, b) => b.length - a.length)[0];
  if (!xs || xs.length !== rows.length) return;
  const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
  for (const [name, value] of [['stroke', 'currentColor'], ['y1', 30], ['y2', 290], ['visibility', 'hidden'],
    ['pointer-events', 'none']]) line.setAttribute(name, value);
  svg.append(line);
  const out = document.createElement('output');
  svg.parentNode.after(out);
  const show = (i) => {
    line.setAttribute('x1', xs[i]);
    line.setAttribute('x2', xs[i]);
    line.setAttribute('visibility', 'visible');
    out.textContent = [...rows[i].children].map((cell, k) => cell.textContent && titles[k] + ' ' + cell.textContent)
      .filter(Boolean).join(', ');
  };
  svg.addEventListener('pointermove', (e) => {
    const box = svg.getBoundingClientRect();
    const x = (e.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
    let best = 0;
    xs.forEach((at, i) => { if (Math.abs(at - x) < Math.abs(xs[best] - x)) best = i; });
    show(best);
  });
  svg.addEventListener('pointerleave', () => line.setAttribute('visibility', 'hidden'));
}
function filter(table) {
  const rows = [...table.querySelectorAll('tbody tr')];
  if (rows.length < 16) return; // all of them are in view
  const tool = document.createElement('div');
  tool.className = 'tool';
  const input = document.createElement('input');
  input.type = 'search';
  input.setAttribute('aria-label', 'show clauses with');
  input.placeholder = 'clause, verdict or words';
  const count = document.createElement('span');
  count.setAttribute('role', 'status');
  tool.append(input, count);
  table.parentNode.before(tool);
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(' ').filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((w) => text.includes(w));
      if (!row.hidden) shown++;
    }
    count.textContent = shown + ' of ' + rows.length;
  });
}
document.querySelectorAll('figure.chart').forEach((f) => { toggles(f); crosshair(f); });
document.querySelectorAll('table.clauses').forEach(filter);
function reveal() { // a link to a row of a table that is closed
  const row = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const box = row && row.closest('details');
  if (box) { box.open = true; row.scrollIntoView(); }
}
addEventListener('hashchange', reveal);
reveal();
