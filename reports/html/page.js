'use strict';
// Nothing here is needed to read the report: curves are toggled, a crosshair reads the table behind a chart, and
// findings and clauses are filtered.
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
// One filter for findings, their entries and clauses: words, and the verdict of a tile.
function filter() {
  const rows = [...document.querySelectorAll('.findings tbody tr, .clauses tbody tr, .entry')];
  const tiles = [...document.querySelectorAll('.tile')];
  const header = document.querySelector('header');
  if (!rows.length) return;
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const of = (row) => { // the word of its verdict
    const at = row.matches('.clauses tr') ? row.children[2] : row.querySelector('td, h3 span') || row;
    return at.textContent.trim().split('  ')[0];
  };
  const verdicts = rows.map(of);
  const tool = document.createElement('div');
  tool.className = 'tool';
  const input = document.createElement('input');
  input.type = 'search';
  input.setAttribute('aria-label', 'show findings and clauses with');
  input.placeholder = 'clause, verdict or words';
  const count = document.createElement('span');
  count.setAttribute('role', 'status');
  tool.append(input, count);
  header.append(tool);
  let chosen = '';
  const show = () => {
    const words = input.value.toLowerCase().split(' ').filter(Boolean);
    let shown = 0;
    rows.forEach((row, i) => {
      row.hidden = !words.every((w) => texts[i].includes(w)) || Boolean(chosen) && !verdicts[i].startsWith(chosen);
      if (!row.hidden) shown++;
    });
    count.textContent = words.length || chosen ? shown + ' of ' + rows.length : '';
    tiles.forEach((t) => t.setAttribute('aria-pressed', String(t.dataset.word === chosen)));
  };
  input.addEventListener('input', show);
  for (const tile of tiles.filter((t) => verdicts.some((v) => v.startsWith(t.dataset.word)))) {
    const flip = () => { chosen = chosen === tile.dataset.word ? '' : tile.dataset.word; show(); };
    tile.setAttribute('role', 'button');
    tile.setAttribute('tabindex', '0');
    tile.addEventListener('click', flip);
    tile.addEventListener('keydown', (e) => {
      if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); flip(); }
    });
  }
  document.querySelector('.tiles')?.setAttribute('role', 'group');
}
document.querySelectorAll('figure.chart').forEach((f) => { toggles(f); crosshair(f); });
filter();
function reveal() { // a link to a row of a table that is closed
  const row = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let box = row && row.closest('details'); box; box = box.parentElement.closest('details')) box.open = true;
  if (row) row.scrollIntoView();
}
addEventListener('hashchange', reveal);
reveal();
