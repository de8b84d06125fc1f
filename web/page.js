import { addBadge, createFindingItems } from './findings.js';
import { createDetails, createStateItems } from './panel.js';
import { createView } from './view.js';

const data = JSON.parse(document.getElementById('data').textContent);
const { cards, routes } = data;
// Cards are in the order in which the workflow reaches their states; search results keep it.
cards.forEach((card, index) => {
  card.order = index / cards.length;
});
const byId = (id) => document.getElementById(id);
const [canvas, search, list, details, found, legend] = ['canvas', 'search', 'states', 'details', 'found', 'legend'].map(
  byId,
);
const workflowFindings = byId('findings');
const svg = canvas.querySelector('svg');
const first = routes.find(({ kind }) => kind === 'begin')?.to ?? cards[0]?.key;
const view = createView(canvas, svg, first === undefined ? null : svg.getElementById(first), (signs) => {
  const more = byId('more');
  more.hidden = signs.length === 0;
  more.textContent = `The picture continues ${signs.join(' ')}`;
});
const nodes = new Map(cards.map(({ key }) => [key, svg.getElementById(key)]));
let selected = null;

list.append(...createStateItems(cards, select));
workflowFindings.append(...createFindingItems({ findings: data.findings, firstLine: 1 }));
for (const { key, name, kind, findings } of cards) {
  const node = nodes.get(key);
  node.setAttribute('role', 'button');
  node.setAttribute('aria-label', `${name}, ${kind}`);
  node.setAttribute('tabindex', '-1');
  node.addEventListener('click', () => select(key));
  addBadge(node, findings);
}

/** Shows a state and adds it to the browser's history. */
function select(key) {
  if (key !== selected) history.pushState(null, '', formatHash(cards.find((each) => each.key === key)));
  show(key);
}

/** Shows all states again, and adds that to the browser's history. */
function close() {
  history.pushState(null, '', location.pathname + location.search);
  showAll();
}

const formatHash = ({ name }) => `#${encodeURIComponent(name)}`;

/** Shows the state that the address names. */
function showNamed() {
  const named = cards.find((card) => formatHash(card) === location.hash);
  if (named !== undefined) show(named.key);
  else if (selected !== null) showAll();
}

/** Shows a state: its details in the panel, its place and neighbors in the picture. */
function show(key) {
  const card = cards.find((each) => each.key === key);
  selected = key;
  details.replaceChildren(...createDetails(card, data, select, close));
  details.hidden = false;
  list.hidden = true;
  legend.hidden = true;
  workflowFindings.hidden = true;
  details.scrollTop = 0;
  if (!view.isWhollySeen(nodes.get(key))) view.center(nodes.get(key));
  emphasize();
  makeReachable(key);
  details.focus({ preventScroll: true });
}

function showAll() {
  const before = selected;
  selected = null;
  details.hidden = true;
  list.hidden = false;
  legend.hidden = false;
  workflowFindings.hidden = false;
  emphasize();
  list.querySelector(`[data-key="${before}"] button`)?.focus();
}

/** Highlights the selected state with its neighbors, and what the search has found. */
function emphasize() {
  const words = search.value.trim().toLowerCase();
  const ranks = new Map(cards.map((card) => [card.key, computeRank(card, words)]));
  const near = new Set(selected === null ? [] : [selected]);
  for (const text of svg.querySelectorAll('.made')) text.remove();
  routes.forEach(({ from, to, label, mark }, index) => {
    const touches = selected !== null && (from === selected || to === selected);
    const arrow = svg.getElementById(`a${index}`);
    arrow.classList.toggle('near', touches);
    if (!touches) return;
    near.add(from).add(to);
    if (label !== '' && mark === '' && arrow.querySelector('text') === null)
      arrow.append(createArrowLabel(arrow, label));
  });
  for (const node of svg.querySelectorAll('.node')) {
    node.classList.toggle('selected', node.id === selected);
    node.classList.toggle('near', near.has(node.id));
    node.classList.toggle('hit', words !== '' && ranks.get(node.id) < NO_HIT);
  }
  canvas.classList.toggle('focused', selected !== null);
  canvas.classList.toggle('searched', words !== '' && selected === null);
  const items = [...list.children].sort((a, b) => ranks.get(a.dataset.key) - ranks.get(b.dataset.key));
  for (const item of items) item.hidden = ranks.get(item.dataset.key) === NO_HIT;
  list.append(...items);
  const hits = items.filter(({ hidden }) => !hidden).length;
  found.textContent = words === '' ? '' : `${hits} of ${cards.length}`;
}

const NO_HIT = 4;

/** How well a state matches the search, the lower the better; equal matches keep their order. */
function computeRank({ name, description, text, order }, words) {
  const lower = name.toLowerCase();
  const rank =
    words === '' || lower === words || lower.replace(/\.\w+$/, '') === words ? 0 : lower.startsWith(words) ? 1 : 2;
  if (rank < 2 || lower.includes(words)) return rank + order;
  return [description, text].some((each) => each.toLowerCase().includes(words)) ? 3 + order : NO_HIT;
}

/** Creates a label for an arrow of the selected state: in a large picture arrows have none. */
function createArrowLabel(arrow, label) {
  const path = arrow.querySelector('path');
  const { x, y } = path.getPointAtLength(path.getTotalLength() / 2);
  const text = document.createElementNS('http://www.w3.org/2000/svg', 'text');
  const attributes = { class: 'made', x, y, 'text-anchor': 'middle', 'font-size': 10 };
  for (const [name, value] of Object.entries(attributes)) text.setAttribute(name, value);
  text.textContent = label;
  return text;
}

/** Makes one state the tab stop of the picture; arrow keys lead from there to the others. */
function makeReachable(key) {
  for (const [each, node] of nodes) node.setAttribute('tabindex', each === key ? '0' : '-1');
}

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Finds the nearest state in a direction; the distance to the side counts double. */
function findNeighbor(node, [dx, dy]) {
  const middle = (each) => {
    const { left, top, width, height } = each.getBoundingClientRect();
    return { x: left + width / 2, y: top + height / 2 };
  };
  const here = middle(node);
  let best = null;
  let least = Number.POSITIVE_INFINITY;
  for (const each of nodes.values()) {
    const there = middle(each);
    const ahead = (there.x - here.x) * dx + (there.y - here.y) * dy;
    const aside = Math.abs((there.x - here.x) * dy) + Math.abs((there.y - here.y) * dx);
    if (ahead > 1 && ahead + 2 * aside < least) [best, least] = [each, ahead + 2 * aside];
  }
  return best;
}

const STEP = 80;

canvas.addEventListener('keydown', (event) => {
  const node = event.target.closest('.state');
  const direction = DIRECTIONS[event.key];
  if (node !== null && (event.key === 'Enter' || event.key === ' ')) select(node.id);
  else if (node !== null && direction !== undefined) {
    const next = findNeighbor(node, direction);
    if (next !== null && !view.isWhollySeen(next)) view.center(next);
    makeReachable((next ?? node).id);
    (next ?? node).focus({ preventScroll: true });
  } else if (direction !== undefined) view.move(direction[0] * STEP, direction[1] * STEP);
  else return;
  event.preventDefault();
});

document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') return selected === null ? clearSearch() : close();
  if (event.target.closest('input, pre') || event.ctrlKey || event.metaKey || event.altKey) return;
  const act = {
    '+': () => view.zoom(1.25),
    '=': () => view.zoom(1.25),
    '-': () => view.zoom(0.8),
    0: view.fit,
    '/': () => search.focus(),
  };
  if (act[event.key] === undefined) return;
  act[event.key]();
  event.preventDefault();
});

function clearSearch() {
  search.value = '';
  emphasize();
}

search.addEventListener('input', () => {
  if (selected !== null) close();
  search.focus();
  emphasize();
});
search.form.addEventListener('submit', (event) => {
  event.preventDefault();
  list.querySelector('li:not([hidden]) button')?.click();
});
byId('zoom-in').addEventListener('click', () => view.zoom(1.25));
byId('zoom-out').addEventListener('click', () => view.zoom(0.8));
byId('fit').addEventListener('click', view.fit);
byId('theme').addEventListener('click', () => {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const { dataset } = document.documentElement;
  dataset.theme = (dataset.theme ?? (dark ? 'dark' : 'light')) === 'dark' ? 'light' : 'dark';
});
new ResizeObserver(view.show).observe(canvas);
// On a narrow screen it would take the place of the list.
legend.open = !matchMedia('(max-width: 700px)').matches;

if (first !== undefined) makeReachable(first);
view.fit();
addEventListener('popstate', showNamed);
showNamed();
