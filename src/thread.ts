import { parentPort } from 'node:worker_threads';
import type { ComputationName, ThreadMessage, ThreadRequest } from './deadline.ts';

/** The code of each computation, loaded when it is first needed. */
const COMPUTATIONS: Readonly<Record<ComputationName, () => Promise<(input: never) => unknown>>> = {
  match_pattern: async () => (await import('./patterns/matcher.ts')).matchPatternHere,
  check_result: async () => (await import('./schema/validator.ts')).checkResultHere,
  find_schema_problems: async () => (await import('./schema/validator.ts')).findSchemaProblemsHere,
  draw: async () => (await import('./drawing/svg.ts')).toSvgHere,
};

const tell = (message: ThreadMessage): void => parentPort?.postMessage(message);

parentPort?.on('message', async ({ name, input }: ThreadRequest) => {
  try {
    const compute: (input: never) => unknown = await COMPUTATIONS[name]();
    tell({ kind: 'began' });
    tell({ kind: 'done', value: await compute(input as never) });
  } catch (error) {
    tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) });
  }
});
