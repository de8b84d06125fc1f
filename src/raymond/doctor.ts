import { setTimeout as delay } from 'node:timers/promises';
import { readConfig } from '../config/config.ts';
import { changedOptions, DEFAULT_OPTIONS, type Options } from '../core/run.ts';
import { RaymondError } from '../errors.ts';
import { claudeFinder } from './claude.ts';
import { answer } from './doctor/answer.ts';
import { type Check, type Finding, odd, type Patient, wrong } from './doctor/check.ts';
import { claudeCode, signedIn } from './doctor/claude.ts';
import { config, folder, rights, space } from './doctor/disk.ts';
import { bash, git, limits, node } from './doctor/machine.ts';
import { runs } from './doctor/runs.ts';
import { configFile } from './records.ts';

/** What one check has found. */
export interface Diagnosis extends Finding {
  readonly name: string;
}

export interface Examination {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** The Claude Code to look at; null for the one that a run would use. */
  readonly claude: string | null;
  readonly ask: boolean;
}

/** Everything that is looked at, in the order in which it is told. A new check is a row here. */
const CHECKS: readonly (readonly [name: string, check: Check])[] = [
  ['Node', node],
  ['Claude Code', claudeCode],
  ['signed in', signedIn],
  ['answers', answer],
  ['bash', bash],
  ['git', git],
  ['config', config],
  ['.raymond', folder],
  ['rights', rights],
  ['disk', space],
  ['limits', limits],
  ['runs', runs],
];

/** Longer than any program is waited for: it is for disks that do not answer. */
const LONGEST_MS = 100_000;

/** Looks at all that a run needs. All checks are made at once, none stops another, and each is told as soon as it can be. */
export async function* examine(examination: Examination): AsyncGenerator<Diagnosis> {
  const options = optionsHere(examination);
  const patient: Patient = { ...examination, options, claude: claudeFinder(options, examination.env) };
  const under = CHECKS.map(([name, check]) => [name, inTime(check, patient)] as const);
  for (const [name, finding] of under) {
    const found = await finding;
    if (found !== null) yield { name, ...found };
  }
}

/** A config file that is wrong is told by its own check. */
function optionsHere({ cwd, claude }: Examination): Options {
  const named = claude === null ? {} : { claude };
  try {
    return changedOptions(DEFAULT_OPTIONS, { ...readConfig(configFile(cwd)), ...named });
  } catch {
    return changedOptions(DEFAULT_OPTIONS, named);
  }
}

async function inTime(check: Check, patient: Patient): Promise<Finding | null> {
  const over = new AbortController();
  const late = delay(LONGEST_MS, null, { signal: over.signal }).then(
    () => odd(`no answer within ${LONGEST_MS / 1000} s`, 'Is a disk or a network away?'),
    () => null,
  );
  try {
    return await Promise.race([check(patient), late]);
  } catch (error) {
    if (error instanceof RaymondError) return wrong(error.message, error.hint ?? '');
    return wrong(`this could not be looked at: ${error instanceof Error ? error.message : String(error)}`, '');
  } finally {
    over.abort();
  }
}
