import { availableParallelism } from 'node:os';
import { runsOn } from '../core/names.ts';
import { RaymondError } from '../errors.ts';
import type { Coverages } from './coverage.ts';
import type { Difference, Review } from './difference.ts';
import { furnish } from './furnish.ts';
import { Leftovers } from './leftovers.ts';
import { rehearse } from './rehearse.ts';
import type { Piece } from './repertoire.ts';
import { review } from './review.ts';
import { openSandboxes, type Sandboxes } from './sandbox.ts';
import { whereaboutsOf } from './whereabouts.ts';

/** How scenarios are to be played. */
export interface RehearsalRequest {
  readonly env: NodeJS.ProcessEnv;
  /** What a scenario may take, in real time. */
  readonly timeoutMs: number;
  /** Whether their folders are kept. */
  readonly keep: boolean;
  /** Once it is aborted, nothing more is begun and what is under way is ended. */
  readonly enough: AbortSignal;
  /** Gathers what they took. */
  readonly coverages?: Coverages;
  readonly onlooker?: Onlooker;
}

/** Told of scenarios as they come and go, in whatever order that is. */
export interface Onlooker {
  begins(piece: Piece): void;
  /** `where` is where its agents stood if it was interrupted, a line for each; null if it came to its end. */
  ends(piece: Piece, where: readonly string[] | null): void;
}

/** What is to be said of a scenario. */
export interface Verdict extends Review {
  readonly piece: Piece;
  readonly tookMs: number;
  /** Its folder, if it is kept. */
  readonly folder: string | null;
}

/** More than processors, for some of it is waiting. */
const AT_ONCE = Math.max(4, 2 * availableParallelism());

/** Plays scenarios, several at once, and tells of each that comes to its end, in their order. */
export async function* rehearseAll(pieces: readonly Piece[], request: RehearsalRequest): AsyncGenerator<Verdict> {
  const sandboxes = openSandboxes(request.keep);
  const leftovers = new Leftovers();
  const verdicts: Promise<Verdict | null>[] = [];
  const begin = (): void => {
    const piece = pieces[verdicts.length];
    if (piece === undefined) return;
    const verdict = request.enough.aborted ? Promise.resolve(null) : rehearseOne(piece, request, sandboxes, leftovers);
    // Who waits for it hears of a failure; those behind it are not waited for then.
    verdict.then(begin, () => {});
    verdicts.push(verdict);
  };
  for (let at = 0; at < AT_ONCE; at += 1) begin();
  try {
    for (let at = 0; at < pieces.length; at += 1) {
      const verdict = await verdicts[at];
      if (verdict !== null && verdict !== undefined) yield leftovers.addTo(verdict);
    }
  } finally {
    await Promise.allSettled(verdicts);
    await sandboxes.close();
  }
}

/** Null if it was interrupted. */
async function rehearseOne(
  piece: Piece,
  request: RehearsalRequest,
  sandboxes: Sandboxes,
  leftovers: Leftovers,
): Promise<Verdict | null> {
  const { rehearsal, workflow } = piece;
  const { env, timeoutMs, enough, keep, coverages, onlooker } = request;
  onlooker?.begins(piece);
  let where: readonly string[] | null = null;
  const startedAt = performance.now();
  const folder = sandboxes.make(rehearsal.fixtures !== null || (await runsScripts(piece)));
  const verdict = (found: Review): Verdict => {
    return { piece, ...found, tookMs: performance.now() - startedAt, folder: keep ? folder : null };
  };
  try {
    furnish(folder, rehearsal);
    const played = await rehearse(rehearsal, workflow, { folder, env, timeoutMs, enough });
    if (played.isCutShort) {
      where = whereaboutsOf(played.events);
      return null;
    }
    coverages?.add(workflow, played);
    leftovers.note(piece, played.used);
    return verdict(await review(piece, played));
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    const trouble: Difference = { ...rehearsal.at, what: 'it', detail: { kind: 'trouble', message: error.message } };
    return verdict({ differences: [trouble], warnings: [] });
  } finally {
    sandboxes.drop(folder);
    onlooker?.ends(piece, where);
  }
}

/** Whether a scenario may run scripts that are real. */
async function runsScripts({ rehearsal, workflow }: Piece): Promise<boolean> {
  const { parts, scripts } = rehearsal.scenario;
  const { files, platform } = await workflow.scope();
  return (
    scripts === 'real' && files.some((file) => runsOn(file, platform) && !file.endsWith('.md') && !parts.has(file))
  );
}
