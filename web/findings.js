import { make } from './make.js';

/** The worst level among findings and how many have it; null if there are no errors and no warnings. */
function findWorst(findings) {
  for (const level of ['error', 'warning']) {
    const count = findings.filter((finding) => finding.level === level).length;
    if (count > 0) return { level, count, words: `${count} ${level}${count === 1 ? '' : 's'}` };
  }
  return null;
}

/** Creates the badge of a state in the list; null if nothing is wrong with it. */
export function createBadge(findings) {
  const worst = findWorst(findings);
  return worst === null ? null : make('span', { class: `badge ${worst.level}` }, worst.words);
}

const SVG = 'http://www.w3.org/2000/svg';

/** Adds the badge of a state in the picture, at the corner of its box. */
export function addBadge(node, findings) {
  const worst = findWorst(findings);
  if (worst === null) return;
  const { x, y, width } = node.getBBox();
  const sign = document.createElementNS(SVG, 'g');
  sign.setAttribute('class', `badge ${worst.level}`);
  sign.setAttribute('transform', `translate(${x + width - 3} ${y + 3})`);
  const circle = document.createElementNS(SVG, 'circle');
  circle.setAttribute('r', 7.5);
  const text = document.createElementNS(SVG, 'text');
  text.setAttribute('y', 4);
  text.textContent = '!';
  sign.append(circle, text);
  node.append(sign);
  node.setAttribute('aria-label', `${node.getAttribute('aria-label')}, ${worst.words}`);
}

/** Creates a list item for each finding; its line is a link if `findLine` gives the element of that line. */
export function createFindingItems({ findings, firstLine }, findLine = () => undefined) {
  return findings.map(({ level, rule, line, message, hint }) => {
    const scrollToLine = () => findLine(line)?.scrollIntoView({ block: 'center' });
    const place = [
      ...(line >= firstLine
        ? [make('button', { type: 'button', class: 'link', onclick: scrollToLine }, `line ${line}`)]
        : []),
      ...(line > 0 && line < firstLine ? [`line ${line} (frontmatter)`] : []),
      ...(line > 0 ? [': '] : []),
    ];
    return make(
      'li',
      { class: level },
      make('strong', {}, level),
      ' ',
      ...place,
      ...renderCode(message),
      ' ',
      make('small', {}, rule),
      hint === '' ? null : make('p', { class: 'hint' }, ...renderCode(hint)),
    );
  });
}

/** A text whose parts between backticks are code. */
const renderCode = (text) =>
  text.split(/`([^`]+)`/).map((part, index) => (index % 2 === 0 ? part : make('code', {}, part)));

/** Creates the lines of a state's text, with those that have findings marked. One past the end belongs to the last line. */
export function createLines({ text, firstLine, findings }) {
  const lines = text.split(/(?<=\n)/);
  const levels = new Map();
  for (const worse of ['warning', 'error']) {
    for (const { line, level } of findings) {
      const index = line - firstLine;
      if (level === worse) levels.set(index === lines.length ? index - 1 : index, level);
    }
  }
  return lines.map((line, index) => make('span', { class: `line ${levels.get(index) ?? ''}` }, line));
}
