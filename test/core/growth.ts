/** Linear work grows eightfold, quadratic work 64-fold; a machine under load blurs both. */
export const FAR_BELOW_QUADRATIC = 24;

const ATTEMPTS = 20;

/**
 * How much more CPU time the work takes on something large than on an eighth of it: 8 if it is linear, 64 if it is
 * quadratic. Eight small ones are measured against the large one, so that both take about as long; the best of several
 * attempts counts, and nobody tries again once it is good enough.
 */
export function growthBetween<Input>(work: (input: Input) => unknown, small: Input, large: Input): number {
  let least = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && least >= FAR_BELOW_QUADRATIC; attempt++) {
    const few = cpuMicros(() => {
      for (let i = 0; i < 8; i++) work(small);
    });
    const many = cpuMicros(() => work(large));
    // Less than four milliseconds say nothing, but that they are few.
    least = Math.min(least, (8 * many) / Math.max(few, 4000));
  }
  return least;
}

function cpuMicros(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
