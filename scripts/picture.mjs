// Draws docs/live.svg: the live view of `raymond demo` at the moment when most agents are at work. `npm run picture`.
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [{ runWorkflow }, { formatEvent }, { layoutLiveView }, { EMPTY_VIEW, applyEvents, applyActivities }] =
  await Promise.all(
    ['index.js', 'render/format.js', 'render/terminal/live/render.js', 'render/terminal/live/view.js'].map(
      (file) => import(new URL(`../build/${file}`, import.meta.url)),
    ),
  );

const SIZE = { columns: 84, rows: 18, color: true };
const COLOR_CLASSES = { 1: 'bold', 2: 'dim', 31: 'red', 32: 'green', 33: 'yellow', 36: 'cyan' };
/** Events that are not printed above the block, because the block shows them. */
const IN_BLOCK = new Set(['turn_started', 'agent_started', 'run_ended']);

const folder = mkdtempSync(join(tmpdir(), 'raymond-picture-'));
try {
  const lines = await busiestScreen(folder);
  writeFileSync(fileURLToPath(new URL('../docs/live.svg', import.meta.url)), toSvg(lines));
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Runs the demo and returns the screen with the most active agents. */
async function busiestScreen(folder) {
  mkdirSync(join(folder, '.raymond'));
  const workflow = join(folder, 'workflow');
  cpSync(fileURLToPath(new URL('../examples/demo', import.meta.url)), workflow, { recursive: true });
  let [view, best] = [EMPTY_VIEW, { busy: 0, lines: [] }];
  const above = [];
  const keepIfBusiest = () => {
    const agents = [...view.agents.values()].filter(({ phase }) => phase === 'running');
    const busy = agents.length + agents.filter(({ doing }) => doing !== null).length;
    if (busy < best.busy) return;
    const { lines: block } = layoutLiveView(view, Date.now(), SIZE);
    best = { busy, lines: [...above.slice(-(SIZE.rows - block.length)), ...block] };
  };
  const running = await runWorkflow(workflow, {
    cwd: folder,
    input: 'a command that turns numbers into Roman numerals',
    name: 'demo',
    options: { agent: `replay:${join(workflow, 'answers.yaml')}` },
    observe(event) {
      view = applyEvents(view, [event]);
      const line = IN_BLOCK.has(event.kind) ? null : formatEvent(event);
      if (line !== null) above.push(line.replaceAll(`${folder}/`, ''));
      keepIfBusiest();
    },
    watch(activity) {
      view = applyActivities(view, [activity]);
      keepIfBusiest();
    },
  });
  await running.finished;
  // What an observer throws is ignored.
  if (best.lines.length === 0) throw new Error('no screen could be drawn');
  return best.lines;
}

/** Draws a terminal window as SVG: each line a text, each color a span. */
function toSvg(lines) {
  const [cell, leading, margin] = [8.4, 19, 16];
  const width = Math.ceil(SIZE.columns * cell + 2 * margin);
  const height = lines.length * leading + 2 * margin + 24;
  const rows = lines.map((line, index) => {
    const y = margin + 24 + (index + 0.75) * leading;
    return `<text x="${margin}" y="${y}" xml:space="preserve">${toSpans(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>raymond demo</title>
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d8dee9}.dim{fill:#7b8698}.bold{font-weight:700;fill:#eceff4}.cyan{fill:#88c0d0}.yellow{fill:#ebcb8b}.red{fill:#bf616a}.green{fill:#a3be8c}</style>
<rect width="${width}" height="${height}" rx="10" fill="#1f2430"/>
<circle cx="20" cy="18" r="5" fill="#bf616a"/><circle cx="38" cy="18" r="5" fill="#ebcb8b"/><circle cx="56" cy="18" r="5" fill="#a3be8c"/>
${rows.join('\n')}
</svg>
`;
}

/** Converts a line with escape codes to spans: a code opens a color, the next one closes it. */
function toSpans(line) {
  const [first = '', ...rest] = line.split('\u001b[');
  return [
    escapeXml(first),
    ...rest.map((part) => {
      const [, code = '', words = ''] = /^(\d+)m(.*)$/s.exec(part) ?? [];
      const name = COLOR_CLASSES[code];
      return name === undefined || words === ''
        ? escapeXml(words)
        : `<tspan class="${name}">${escapeXml(words)}</tspan>`;
    }),
  ].join('');
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
