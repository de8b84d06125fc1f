import { writeFileSync } from 'node:fs';
import type { ScriptTurn } from '../../core/due.ts';
import type { Failure } from '../../core/failure.ts';
import type { Answered, Failed } from '../../core/signal.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { CannedAnswer } from '../../scenario/scenario.ts';
import type { ScriptRunner } from '../backend.ts';
import { lookUpFolders } from '../folders.ts';
import {
  crashIfRequested,
  failIfUnplayable,
  type ReplayDeps,
  reclaimTurnFolder,
  requireAnswer,
  unsetVariableWarnings,
  waitAnswerTime,
  writeAnswerFile,
} from './canned-turn.ts';

/** Plays scripts that are in the file of canned answers. */
export class ReplayScriptRunner implements ScriptRunner {
  private readonly deps: ReplayDeps;

  constructor(deps: ReplayDeps) {
    this.deps = deps;
  }

  async prepare(turn: ScriptTurn): Promise<readonly string[]> {
    const { unknown } = requireAnswer(this.deps, turn);
    await this.deps.context.makeFolder(turn, { stdin: '' });
    return turn.visit === 1 ? unsetVariableWarnings(this.deps, turn, unknown) : [];
  }

  take(turn: ScriptTurn, adopted: 'this' | 'earlier'): Promise<Answered | Failed> {
    return failIfUnplayable(this.deps, turn, async () => {
      const dir = await reclaimTurnFolder(this.deps, turn, adopted);
      const { answer } = requireAnswer(this.deps, turn);
      const { clock } = this.deps;
      if (!(await waitAnswerTime(this.deps, answer, 1))) return failedSignal(turn, STOPPED, clock.now());
      for (const file of Object.entries(answer.write)) writeAnswerFile(this.deps, turn, file);
      this.print(turn, dir, answer);
      await crashIfRequested(this.deps, answer, adopted);
      const { text, exit, stderr } = answer;
      const stderrText = stderr === '' ? '' : `\n${stderr.trimEnd()}`;
      if (exit !== 0)
        return failedSignal(
          turn,
          { kind: 'script', message: `the script ended with exit code ${exit}${stderrText}` },
          clock.now(),
        );
      const { context } = this.deps;
      const [scope, folders] = await Promise.all([context.readScope(), lookUpFolders(text, turn.policy, turn.cwd)]);
      return { kind: 'answered', at: clock.now(), agent: turn.agent, text, cost: null, denials: [], scope, folders };
    });
  }

  private print({ agent }: ScriptTurn, dir: string, { text, stderr }: CannedAnswer): void {
    const files = turnFiles(dir);
    writeFileSync(files.stdout, text, { mode: 0o600 });
    writeFileSync(files.stderr, stderr, { mode: 0o600 });
    for (const line of `${text}\n${stderr}`.split('\n').filter((each) => each.trim() !== '')) {
      this.deps.context.onActivity?.({ at: this.deps.clock.now(), agent, doing: { kind: 'prints', text: line } });
    }
  }
}

/** Nothing was begun that could be half done: it is simply taken again. */
const STOPPED: Failure = { kind: 'stopped', message: 'The turn was ended because the run was stopped.' };

function failedSignal({ agent }: ScriptTurn, failure: Failure, at: number): Failed {
  return { kind: 'failed', at, agent, failure, cost: null, progress: 'none', jitter: 0 };
}
