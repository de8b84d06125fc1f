import { existsSync, realpathSync } from 'node:fs';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { z } from 'zod';
import { Problem } from '../problem.ts';

/** Text of a query that stands for a whole number within limits. */
export const countParam = (max: number, preset: number) => z.coerce.number().int().min(1).max(max).default(preset);

/** The options of a run that a request may set, in the words of `--json`. */
export const RUN_SETTINGS = {
  budget_usd: z.number().min(0).max(1e9).optional().describe('What the run may spend; 0 for no limit.'),
  model: z.string().min(1).max(200).optional(),
  effort: z.string().min(1).max(50).optional(),
  parallel: z.number().int().min(0).max(10_000).optional().describe('The most Claude turns at once; 0 for no limit.'),
  max_iterations: z.number().int().min(1).optional(),
};

/** Refuses canned answers from elsewhere than the project: a message about a file that is none would show what is in it. */
export function checkReplayFile(agent: string, folder: string): void {
  const file = resolve(folder, agent.replace(/^replay:/, ''));
  const path = relative(realpathSync(folder), existsSync(file) ? realpathSync(file) : file);
  if (path !== '' && !isAbsolute(path) && path.split(sep)[0] !== '..') return;
  const message = 'must be a file of the project';
  throw new Problem(422, `body.agent: ${message}`, { faults: [{ path: 'body.agent', message }] });
}

/** The options that a request may set, as a type. */
export type RunSettings = z.infer<z.ZodObject<typeof RUN_SETTINGS>>;

/** The flags for these settings. Each is one word, so that no value can pass for a flag. */
export function toFlags({ budget_usd, model, effort, parallel, max_iterations }: RunSettings): readonly string[] {
  const flags = { budget: budget_usd, model, effort, parallel, 'max-iterations': max_iterations };
  return Object.entries(flags).flatMap(([name, value]) => (value === undefined ? [] : [`--${name}=${value}`]));
}
