import { writeFileSync } from 'node:fs';
import type { ScriptTurn } from '../../core/due.ts';
import type { Failure } from '../../core/failure.ts';
import type { Answered, Failed } from '../../core/signal.ts';
import { turnFiles } from '../../process/turn-files.ts';
import type { Answer } from '../../scenario/scenario.ts';
import type { ScriptTaker } from '../backend.ts';
import { lookUpFolders } from '../folders.ts';
import {
  answerFor,
  clearedFolder,
  mayCrash,
  pass,
  type Stage,
  unlessUnplayable,
  warningsOf,
  writeFile,
} from './stage.ts';

/** Plays scripts that are in the file of canned answers. */
export class PlayedScripts implements ScriptTaker {
  private readonly stage: Stage;

  constructor(stage: Stage) {
    this.stage = stage;
  }

  async prepare(turn: ScriptTurn): Promise<readonly string[]> {
    const { unknown } = answerFor(this.stage, turn);
    await this.stage.desk.makeFolder(turn, { stdin: '' });
    return turn.visit === 1 ? warningsOf(this.stage, turn, unknown) : [];
  }

  take(turn: ScriptTurn, life: 'this' | 'earlier'): Promise<Answered | Failed> {
    return unlessUnplayable(this.stage, turn, async () => {
      const dir = await clearedFolder(this.stage, turn, life);
      const { answer } = answerFor(this.stage, turn);
      const { clock } = this.stage;
      if (!(await pass(this.stage, answer, 1))) return failed(turn, STOPPED, clock.now());
      for (const file of Object.entries(answer.write)) writeFile(this.stage, turn, file);
      this.print(turn, dir, answer);
      await mayCrash(this.stage, answer, life);
      const { text, exit, stderr } = answer;
      const said = stderr === '' ? '' : `\n${stderr.trimEnd()}`;
      if (exit !== 0)
        return failed(turn, { kind: 'script', message: `the script ended with exit code ${exit}${said}` }, clock.now());
      const { desk } = this.stage;
      const [scope, folders] = await Promise.all([desk.scope(), lookUpFolders(text, turn.policy, turn.cwd)]);
      return { kind: 'answered', at: clock.now(), agent: turn.agent, text, cost: null, denials: [], scope, folders };
    });
  }

  private print({ agent }: ScriptTurn, dir: string, { text, stderr }: Answer): void {
    const files = turnFiles(dir);
    writeFileSync(files.stdout, text, { mode: 0o600 });
    writeFileSync(files.stderr, stderr, { mode: 0o600 });
    for (const line of `${text}\n${stderr}`.split('\n').filter((each) => each.trim() !== '')) {
      this.stage.desk.notice?.({ at: this.stage.clock.now(), agent, doing: { kind: 'prints', text: line } });
    }
  }
}

/** Nothing was begun that could be half done: it is simply taken again. */
const STOPPED: Failure = { kind: 'stopped', message: 'The turn was ended because the run was stopped.' };

function failed({ agent }: ScriptTurn, failure: Failure, at: number): Failed {
  return { kind: 'failed', at, agent, failure, cost: null, progress: 'none', jitter: 0 };
}
