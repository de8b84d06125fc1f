import { availableParallelism } from 'node:os';
import { runsOn } from '../core/names.ts';
import { RaymondError } from '../errors.ts';
import type { Coverages } from './coverage.ts';
import type { Difference, Review } from './difference.ts';
import { furnish } from './furnish.ts';
import { rehearse } from './rehearse.ts';
import type { Piece } from './repertoire.ts';
import { review } from './review.ts';
import { openSandboxes, type Sandboxes } from './sandbox.ts';

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

/** Plays scenarios, several at once, and tells of each in their order. If it is enough, the rest is left out. */
export async function* rehearseAll(pieces: readonly Piece[], request: RehearsalRequest): AsyncGenerator<Verdict> {
  const sandboxes = openSandboxes(request.keep);
  const verdicts: Promise<Verdict | null>[] = [];
  const begin = (): void => {
    const piece = pieces[verdicts.length];
    if (piece === undefined) return;
    const verdict = request.enough.aborted ? Promise.resolve(null) : rehearseOne(piece, request, sandboxes);
    // Who waits for it hears of a failure; those behind it are not waited for then.
    verdict.then(begin, () => {});
    verdicts.push(verdict);
  };
  for (let at = 0; at < AT_ONCE; at += 1) begin();
  try {
    for (let at = 0; at < pieces.length; at += 1) {
      const verdict = await verdicts[at];
      if (verdict !== null && verdict !== undefined && !request.enough.aborted) yield verdict;
    }
  } finally {
    await Promise.allSettled(verdicts);
    await sandboxes.close();
  }
}

async function rehearseOne(piece: Piece, request: RehearsalRequest, sandboxes: Sandboxes): Promise<Verdict> {
  const { rehearsal, workflow } = piece;
  const { env, timeoutMs, enough, keep, coverages } = request;
  const startedAt = performance.now();
  const folder = sandboxes.make(rehearsal.fixtures !== null || (await runsScripts(piece)));
  const verdict = (found: Review): Verdict => {
    return { piece, ...found, tookMs: performance.now() - startedAt, folder: keep ? folder : null };
  };
  try {
    furnish(folder, rehearsal);
    const played = await rehearse(rehearsal, workflow, { folder, env, timeoutMs, enough });
    coverages?.add(workflow, played);
    return verdict(await review(piece, played));
  } catch (error) {
    if (!(error instanceof RaymondError)) throw error;
    const trouble: Difference = { ...rehearsal.at, what: 'it', detail: { kind: 'trouble', message: error.message } };
    return verdict({ differences: [trouble], warnings: [] });
  } finally {
    sandboxes.drop(folder);
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
