import type { WorktreePool } from '../../app/worktrees/worktree-pool.ts';
import { createWorktreesDocument } from '../../documents/run-document.ts';
import { EXIT } from '../../errors.ts';
import { formatJson } from '../../language/text/json.ts';
import { formatCount } from '../../render/format.ts';
import { describeFoundWorktree, type FoundWorktree } from '../../render/found-worktree.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import { type Column, renderTable } from '../../render/terminal/table.ts';
import { createRenderContext, type Terminal } from '../../render/terminal/terminal.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { findDatabaseAddress, withStorage } from '../open-storage.ts';
import { getTextOption } from '../parsed-options.ts';

/** `raymond worktrees`: lists the worktrees of workers and what they hold; removes those without work, or those of one run. */
export const handleWorktrees: CommandHandler = (args, options, terminal) =>
  withStorage(findDatabaseAddress(options, terminal), terminal, async ({ launcher: { worktrees: pool } }) => {
    const run = getTextOption(options, 'discard');
    if (run !== undefined && options.prune === true) throw usageError('--discard does not go with --prune');
    if (run !== undefined) return discard(pool, run, args, options, terminal);
    if (args.length > 0) throw usageError('names of agents go with --discard', 'Write --discard RUN AGENT.');
    if (options.yes === true && options.prune !== true)
      throw usageError('--yes goes with --prune or --discard', 'Write --prune --yes.');
    const found = await pool.find();
    if (options.yes === true) return remove(found, options, terminal, (observe) => pool.prune(found, observe));
    if (options.json) showDocument(found, new Set(), terminal);
    else renderWorktrees(found, options.prune === true, terminal);
    return EXIT.completed;
  });

/** Removes worktrees, and says what became of each. */
async function remove(
  found: readonly FoundWorktree[],
  options: ParsedOptions,
  terminal: Terminal,
  act: (observe: (worktree: FoundWorktree, problem: string | null) => void) => Promise<void>,
): Promise<number> {
  const removed = new Set<FoundWorktree>();
  const problems: string[] = [];
  await act((worktree, problem) => {
    if (problem === null) removed.add(worktree);
    else problems.push(`The worktree ${sanitizeLine(worktree.path)} cannot be removed: ${sanitizeLine(problem)}\n`);
  });
  if (options.json) showDocument(found, removed, terminal);
  else terminal.out(`Removed ${formatCount(removed.size, 'worktree')}.\n`);
  terminal.err(problems.join(''));
  return problems.length === 0 ? EXIT.completed : EXIT.usage;
}

/** Removes worktrees of one run with the work in them, after a question. */
async function discard(
  pool: WorktreePool,
  run: string,
  agents: readonly string[],
  options: ParsedOptions,
  terminal: Terminal,
): Promise<number> {
  const { out, err, ask } = terminal;
  const all = await pool.findOfRun(run);
  const meant = agents.length === 0 ? all : all.filter(({ agent }) => agents.includes(agent));
  refuseDiscard(run, agents, all, meant);
  const removals = formatRemovals(meant);
  if (options.yes !== true) {
    if (options.json) showDocument(meant, new Set(), terminal);
    else out(`${renderTable(meant, columns, createRenderContext(terminal), discardDetails).join('\n')}\n`);
    if (ask === undefined || options.json) {
      err(`Nothing was removed yet. With --yes, ${removals} would go, with all the work in them.\n`);
      return EXIT.completed;
    }
    if (!(await ask(`Remove ${removals}, with all the work in them, for good?`))) {
      err('Nothing was removed.\n');
      return EXIT.usage;
    }
  }
  return remove(meant, options, terminal, (observe) => pool.discard(meant, observe));
}

const formatRemovals = ({ length }: readonly FoundWorktree[]): string =>
  `${formatCount(length, 'worktree')} and ${length === 1 ? 'its branch' : 'their branches'}`;

function refuseDiscard(
  run: string,
  agents: readonly string[],
  all: readonly FoundWorktree[],
  meant: readonly FoundWorktree[],
): void {
  const missing = agents.find((agent) => !all.some((each) => each.agent === agent));
  if (all.length === 0) throw usageError(`the run ${run} has no worktree`, '`raymond worktrees` lists them all.');
  if (missing !== undefined)
    throw usageError(
      `the run ${run} has no worktree of ${missing}`,
      `It has those of ${all.map(({ agent }) => agent).join(', ')}.`,
    );
  const used = meant.filter(({ holds }) => holds === 'in_use').map(({ agent }) => agent);
  if (used.length > 0)
    throw usageError(
      `a worktree of ${run} is in use: that of ${used.join(', ')}`,
      `Let the run end, or remove it first: \`raymond prune ${run}\`.`,
    );
  const clone = meant.find(({ agent }) => agent === 'main');
  const others = all.filter((each) => !meant.includes(each) && each.worker === clone?.worker);
  if (clone !== undefined && others.length > 0)
    throw usageError(
      `the clone of ${run} has other worktrees: those of ${others.map(({ agent }) => agent).join(', ')}`,
      `Discard all of them: \`raymond worktrees --discard ${run}\`.`,
    );
}

const columns: readonly Column<FoundWorktree>[] = [
  { title: 'RUN', cell: ({ run }) => run },
  { title: 'AGENT', cell: ({ agent }) => agent },
  { title: 'HOLDS', cell: (worktree) => sanitizeLine(describeFoundWorktree(worktree)) },
];

const details = ({ path, worker, branch }: FoundWorktree): readonly string[] =>
  [worker === undefined ? path : `${path} on ${worker}`, `branch ${branch}`].map((line) => `  ${sanitizeLine(line)}`);

const MOST_LISTED = 10;

/** Where a worktree is, and what would be lost with it. */
function discardDetails(worktree: FoundWorktree): readonly string[] {
  const { files = [], commits = [] } = worktree.work ?? {};
  const list = (title: string, all: readonly string[]): readonly string[] => [
    ...all.slice(0, MOST_LISTED).map((each) => `  ${title} ${sanitizeLine(each)}`),
    ...(all.length > MOST_LISTED ? [`  … and ${all.length - MOST_LISTED} more`] : []),
  ];
  return [...details(worktree), ...list('not committed:', files), ...list('commit', commits)];
}

const showDocument = (
  found: readonly FoundWorktree[],
  removed: ReadonlySet<FoundWorktree>,
  { out }: Pick<Terminal, 'out'>,
): void => out(`${formatJson(createWorktreesDocument(found, (each) => removed.has(each)))}\n`);

function renderWorktrees(found: readonly FoundWorktree[], prunes: boolean, terminal: Terminal): void {
  const { out, err } = terminal;
  const empty = found.filter(({ holds }) => holds === 'nothing');
  const shown = prunes ? empty : found;
  if (shown.length === 0) {
    err(prunes ? 'There is no worktree without work.\n' : 'No worker has left a worktree here.\n');
    return;
  }
  const context = createRenderContext(terminal);
  const dimmed = (worktree: FoundWorktree): readonly string[] =>
    details(worktree).map((line) => context.colorize('dim', line));
  out(`${renderTable(shown, columns, context, dimmed).join('\n')}\n`);
  if (prunes) err(`Nothing was removed yet. With --yes, ${formatRemovals(empty)} would go.\n`);
  else if (empty.length > 0) err('To remove those that hold nothing new: raymond worktrees --prune --yes\n');
}
