// Measures how time grows with the input: each size against its double, side by side in one process, so that the
// ratio says the same on a fast machine and on a slow one.

const ROUNDS = 9;

/** The best of several rounds for each size; the sizes take turns, so that a disturbance hits all of them alike. */
export function measureGrowth(work, makeInput, sizes) {
  const inputs = sizes.map(makeInput);
  const best = sizes.map(() => Number.POSITIVE_INFINITY);
  for (const input of inputs) work(input);
  for (let round = 0; round < ROUNDS; round += 1) {
    inputs.forEach((input, index) => {
      best[index] = Math.min(best[index], timeOnce(work, input));
    });
  }
  return sizes.map((size, index) => ({
    size,
    ms: best[index],
    usPerKb: (best[index] * 1000) / (size / 1024),
    ratio: index === 0 ? null : best[index] / best[index - 1],
  }));
}

/** One line per case and size, in columns. */
export function formatTable(rows) {
  const head = ['case', 'KB', 'ms', 'µs/KB', 't(2n)/t(n)'];
  const body = rows.map(({ name, size, ms, usPerKb, ratio }) => [
    name,
    String(size / 1024),
    ms.toFixed(2),
    usPerKb.toFixed(2),
    ratio === null ? '' : ratio.toFixed(2),
  ]);
  const widths = head.map((_, column) => Math.max(...[head, ...body].map((row) => row[column].length)));
  const line = (row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]) : cell.padStart(widths[i]))).join('  ');
  return [head, ...body].map(line).join('\n');
}

function timeOnce(work, input) {
  const start = performance.now();
  work(input);
  return performance.now() - start;
}
