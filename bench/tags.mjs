// Shows that reading tags takes linear time, on ordinary messages and on the worst we could think of: doubling the
// input should about double the time.
import { measureGrowth } from './harness.mjs';

const KB = 1024;
const SIZES = [256 * KB, 512 * KB, 1024 * KB, 2048 * KB];

const fill = (piece, size) => piece.repeat(Math.ceil(size / piece.length)).slice(0, size);

/** Runs of every length from one up, none cut short, so that no run has a partner that closes it. */
function loneRuns(size) {
  let text = '';
  for (let run = '`'; text.length + run.length < size; run += '`') text += `${run} `;
  return text.padEnd(size);
}

const CASES = {
  'prose, one tag': (size) => `${fill('The build is green, so the work is done. \n', size)}<goto>NEXT.md</goto>`,
  'many tags': (size) => fill('<fork next="A.md" item="1">W.md</fork>\n', size),
  'all <goto': (size) => fill('<goto', size),
  'all <goto>': (size) => fill('<goto>', size),
  'unbalanced quotes': (size) => `<goto ${fill(`a="b' c='d `, size)}`,
  'attributes, no end': (size) => `<goto ${fill('a="b" ', size)}`,
  'all backticks': (size) => `<goto>${fill('`', size)}`,
  'one code block, one tag': (size) => `\`\`\`\n${fill('x = "<goto>";\n', size)}\n\`\`\`\n<goto>A.md</goto>`,
  'lone backtick runs': (size) => `${loneRuns(size)}<goto>A.md</goto>`,
};

/** One row per case and size. */
export async function measureTags({ load, quick }) {
  const { readTags } = await load('language/tags/tag.js');
  const { TAG_NAMES } = await load('language/transitions/index.js');
  const sizes = quick ? SIZES.slice(0, 2) : SIZES;
  return Object.entries(CASES).flatMap(([name, makeInput]) =>
    measureGrowth((text) => readTags(text, TAG_NAMES), makeInput, sizes).map((row) => ({ name, ...row })),
  );
}
