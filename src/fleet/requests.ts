import type { StopMode } from '../store/stop-request.ts';
import type { Database } from './database.ts';

const POLL_INTERVAL_MS = 250;

/** The row of something that a person says to an agent. */
export interface WordsRow {
  readonly run: string;
  readonly id: string;
  readonly content: string;
}

/**
 * What people ask of the runs of one worker: to stop, answers, and what they say. They are rows, and one look for all runs together finds those
 * that are new, however many runs there are.
 */
export class Requests {
  private readonly database: Pick<Database, 'query'>;
  private readonly worker: string;
  private stops = new Map<string, StopMode>();
  /** The questions that wait for an answer, and for how many looks nobody has asked after each. */
  private readonly asked = new Map<string, { readonly run: string; readonly ask: string; looks: number }>();
  private answered: ReadonlySet<string> = new Set();
  private words: ReadonlyMap<string, readonly WordsRow[]> = new Map();
  private timer: NodeJS.Timeout | undefined;
  private readonly others: (() => Promise<void>)[] = [];

  constructor(database: Pick<Database, 'query'>, worker: string) {
    this.database = database;
    this.worker = worker;
  }

  /** Adds another look to those of this one. */
  add(look: () => Promise<void>): void {
    this.others.push(look);
  }

  start(): void {
    const lookAgain = (): void => {
      this.timer = setTimeout(() => this.look().then(lookAgain, lookAgain), POLL_INTERVAL_MS);
    };
    lookAgain();
  }

  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** The stop that was requested of a run; null if none was. */
  stopOf = (run: string): StopMode | null => this.stops.get(run) ?? null;

  /** Whether a question has an answer. The next look is also for this one: who waits asks again. */
  hasAnswer = (run: string, ask: string): boolean => {
    const key = `${run}/${ask}`;
    this.asked.set(key, { run, ask, looks: 0 });
    return this.answered.has(key);
  };

  /** What people say to the agents of a run and what is not in its journal yet, the oldest first. */
  wordsOf = (run: string): readonly WordsRow[] => this.words.get(run) ?? NO_WORDS;

  /** Takes note of what waits in a run from before, so that nobody has to wait for the next look. */
  noteWords(rows: readonly WordsRow[]): void {
    this.words = new Map([...this.words, ...groupByRun(rows)]);
  }

  /** Looks for what is new. */
  async look(): Promise<void> {
    const rows = await this.database.query<{ id: string; stop: StopMode }>(
      `select id, stop from raymond.runs where driver = $1 and status = 'running' and stop is not null`,
      [this.worker],
    );
    this.stops = new Map(rows.map(({ id, stop }) => [id, stop]));
    this.answered = await this.findAnswers();
    this.words = groupByRun(
      await this.database.query<WordsRow>(
        `select run, words.id, content from raymond.words join raymond.runs on runs.id = run
         where driver = $1 and status = 'running' order by at`,
        [this.worker],
      ),
    );
    for (const look of this.others) await look();
  }

  /** Which of the questions that somebody waits for have an answer. */
  private async findAnswers(): Promise<ReadonlySet<string>> {
    for (const [key, question] of this.asked) {
      question.looks += 1;
      if (question.looks > FORGOTTEN_AFTER_LOOKS) this.asked.delete(key);
    }
    if (this.asked.size === 0) return new Set();
    const questions = [...this.asked.values()];
    const rows = await this.database.query<{ key: string }>(
      `select run || '/' || ask as key from raymond.answers
       where (run, ask) in (select * from unnest($1::text[], $2::text[]))`,
      [questions.map(({ run }) => run), questions.map(({ ask }) => ask)],
    );
    return new Set(rows.map(({ key }) => key));
  }
}

/** Who waits for an answer asks as often as this one looks. */
const FORGOTTEN_AFTER_LOOKS = 8;

const NO_WORDS: readonly WordsRow[] = [];

function groupByRun(rows: readonly WordsRow[]): ReadonlyMap<string, readonly WordsRow[]> {
  const groups = new Map<string, WordsRow[]>();
  for (const row of rows) {
    const group = groups.get(row.run);
    if (group === undefined) groups.set(row.run, [row]);
    else group.push(row);
  }
  return groups;
}
