import { resolve } from 'node:path';
import { EXIT } from '../../errors.ts';
import { wrapped } from '../../observers/fit.ts';
import { oneLine } from '../../observers/harmless.ts';
import type { GraphFormat } from '../../raymond/graph.ts';
import { type RehearsalRequest, rehearseAll, type Verdict } from '../../rehearsal/all.ts';
import { type Coverage, Coverages, everything, percentOf } from '../../rehearsal/coverage.ts';
import { documentOf, hasPassed, type Interruption, type Outcome } from '../../rehearsal/document.ts';
import { findFiles } from '../../rehearsal/find.ts';
import { type Piece, readRepertoire, withRealScripts } from '../../rehearsal/repertoire.ts';
import { newAwaitedLine } from '../awaited-line.ts';
import { coverageLines, percentTaken } from '../coverage-page.ts';
import { formatFor, refuseState, writeDrawing } from '../drawing-file.ts';
import type { Carry, Words } from '../entry.ts';
import { totalLines, troubleLines } from '../outcome-page.ts';
import { type Page, pageOf } from '../page.ts';
import { patienceOf } from '../patience.ts';
import type { Terminal } from '../terminal.ts';
import { refuse, usage } from '../usage.ts';
import { verdictLines } from '../verdict-page.ts';
import { amountOf, textOf } from '../words.ts';

/** `raymond test [PATH…]`: plays scenarios without Claude Code and compares what comes of them with what they expect. */
export const test: Carry = async (paths, words, terminal) => {
  if (words.record !== undefined) return (await import('./record.ts')).record(paths, words, terminal);
  refuse(words, ['output'], 'test without --record');
  const least = amountOf(words, 'minCoverage');
  if (least !== undefined && least > 100) throw usage('--min-coverage is a percentage: from 0 to 100');
  const { files, bare } = findFiles(paths.length === 0 ? ['.'] : paths, terminal.cwd);
  const repertoire = await readRepertoire(files, terminal.cwd);
  const fitting = chosen(repertoire.pieces, textOf(words, 'filter'), repertoire.unusable.length > 0);
  const pieces = words.realScripts ? fitting.map(withRealScripts) : fitting;
  const drawing = textOf(words, 'graph');
  const format = drawing === undefined ? undefined : formatFor(drawing);
  if (drawing !== undefined) refuseState(resolve(terminal.cwd, drawing), '--graph');
  if (drawing !== undefined && new Set(pieces.map(({ workflow }) => workflow)).size > 1) {
    throw usage('--graph draws one workflow', 'Name one PATH whose scenarios are all about the same workflow.');
  }
  const isCounted = words.coverage || least !== undefined || drawing !== undefined;
  const coverages = isCounted ? new Coverages() : undefined;

  const page = pageOf(terminal);
  const say = (...lines: readonly string[]): void => {
    if (!words.json) for (const line of lines) terminal.out(`${line}\n`);
  };
  const startedAt = performance.now();
  const { verdicts, interruption } = await playAll(pieces, words, terminal, coverages, tellerOf(page, say));
  const tookMs = performance.now() - startedAt;
  const covered = coverages === undefined || interruption !== null ? null : await coverages.all();
  const played = new Set(repertoire.pieces.map(({ workflow }) => workflow.path));
  const untested = bare.filter((path) => !played.has(resolve(terminal.cwd, path)));
  const outcome: Outcome = {
    verdicts,
    unusable: repertoire.unusable,
    untested,
    tookMs,
    coverages: covered,
    interruption,
  };
  if (words.json) terminal.out(`${JSON.stringify(documentOf(outcome, terminal.cwd), null, 2)}\n`);
  const isMissingFiles = verdicts.some((verdict) => !hasPassed(verdict) && !fitting.includes(verdict.piece));
  say(...troubleLines(outcome, page), ...(isMissingFiles ? ['', ...wrapped(FILES_MISSING, page.columns)] : []));
  say(...totalLines(outcome, page));
  if (interruption !== null) return EXIT.interrupted;
  if (covered !== null && covered.length > 0 && words.coverage) say('', ...coverageLines(covered, terminal.cwd, page));
  const [only] = covered ?? [];
  if (drawing !== undefined && format !== undefined && only !== undefined) await draw(only, drawing, format, terminal);
  const isEnough = covered === null || least === undefined || percentOf(everything(covered)) >= least;
  if (!isEnough) {
    terminal.err(`raymond: ${percentTaken(covered ?? [])} are covered, less than ${least}%\n`);
    if (!words.coverage && !words.json) terminal.err('--coverage shows what is not.\n');
  }
  if (repertoire.unusable.length > 0) return EXIT.invalid;
  return isEnough && verdicts.every(hasPassed) ? EXIT.completed : EXIT.failed;
};

/** Said where scripts failed a scenario that was made without them. */
const FILES_MISSING =
  'With --real-scripts, scripts find only what their scenario puts into its folder. What else they need, such as files that ' +
  'lay there when it was recorded, can be added under `files`, or a folder of them under `files_from`.';

/** Draws what was covered over the picture of the workflow. */
async function draw(only: Coverage, file: string, format: GraphFormat, { cwd, err }: Terminal): Promise<void> {
  const { workflow, traffic } = only;
  const { drawTraffic } = await import('../../raymond/graph.ts');
  const headline = `${percentTaken([only])} are covered by its scenarios`;
  writeDrawing(resolve(cwd, file), await drawTraffic(workflow.path, traffic, headline, format, cwd), '--graph');
  err(`${file} is written.\n`);
}

/**
 * The scenarios whose name, or whose file's, contains a text, whatever the case of its letters; where one goes by just that
 * name, no others.
 */
function chosen(pieces: readonly Piece[], filter: string | undefined, mayBeNone: boolean): readonly Piece[] {
  if (filter === undefined) return pieces;
  const wanted = filter.toLowerCase();
  const exact = pieces.filter(({ rehearsal }) => rehearsal.name.toLowerCase() === wanted);
  if (exact.length > 0) return exact;
  const fitting = pieces.filter(({ file, rehearsal }) => `${file} ${rehearsal.name}`.toLowerCase().includes(wanted));
  if (fitting.length > 0 || mayBeNone) return fitting;
  const names = pieces.slice(0, MOST_NAMED).map(({ rehearsal }) => oneLine(rehearsal.name));
  const more = pieces.length > MOST_NAMED ? [`${pieces.length - MOST_NAMED} more`] : [];
  throw usage(`no scenario is called like \`${filter}\``, `There are these: ${[...names, ...more].join(', ')}.`);
}

const MOST_NAMED = 5;

/** Plays them to the end, or until somebody presses Ctrl-C. */
async function playAll(
  pieces: readonly Piece[],
  words: Words,
  terminal: Terminal,
  coverages: Coverages | undefined,
  tell: (verdict: Verdict) => void,
): Promise<Pick<Outcome, 'verdicts' | 'interruption'>> {
  const enough = new AbortController();
  const stopListening = terminal.onInterrupt(() => enough.abort());
  const { screen, outIsScreen } = terminal;
  const isSeen = screen !== null && outIsScreen === true && !words.json;
  const line = isSeen ? newAwaitedLine(screen, pieces) : undefined;
  const cut: Interruption['cut'][number][] = [];
  const request: RehearsalRequest = {
    // A copy: to read `process.env` as a whole is slow, and each run does it.
    env: { ...terminal.env },
    timeoutMs: patienceOf(words),
    keep: words.keep === true,
    enough: enough.signal,
    ...(coverages !== undefined && { coverages }),
    onlooker: {
      begins: (piece) => line?.begins(piece),
      ends(piece, where) {
        line?.ends(piece);
        if (where !== null) cut.push({ piece, where });
      },
    },
  };
  const verdicts: Verdict[] = [];
  try {
    for await (const verdict of rehearseAll(pieces, request)) {
      verdicts.push(verdict);
      line?.clear();
      tell(verdict);
    }
  } finally {
    line?.close();
    stopListening();
  }
  const isCutShort = enough.signal.aborted && verdicts.length < pieces.length;
  const notBegun = pieces.length - verdicts.length - cut.length;
  return { verdicts, interruption: isCutShort ? { cut: inOrder(cut, pieces), notBegun } : null };
}

/** Those that were interrupted, as they stand in their files: who ended first is chance. */
const inOrder = (cut: Interruption['cut'], pieces: readonly Piece[]): Interruption['cut'] =>
  cut.toSorted((a, b) => pieces.indexOf(a.piece) - pieces.indexOf(b.piece));

/** Tells of one scenario after the other, under the names of their files. */
function tellerOf(page: Page, say: (...lines: readonly string[]) => void): (verdict: Verdict) => void {
  let file = '';
  const told = new Set<string>();
  return (verdict) => {
    if (verdict.piece.file !== file) {
      file = verdict.piece.file;
      say(page.dye('bold', file));
    }
    say(...verdictLines(verdict, told, page));
  };
}
