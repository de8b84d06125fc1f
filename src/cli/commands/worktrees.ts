import { formatJson } from '../../core/json.ts';
import { EXIT, type RaymondError } from '../../errors.ts';
import { formatCount } from '../../events/format.ts';
import { createWorktreesDocument, describeFoundWorktree, type FoundWorktree } from '../../events/found-worktree.ts';
import { sanitizeLine } from '../../events/sanitize.ts';
import { findWorktrees, pruneWorktrees } from '../../runtime/worktrees.ts';
import { createRenderContext } from '../../terminal/render-context.ts';
import { type Column, renderTable } from '../../terminal/table.ts';
import type { Terminal } from '../../terminal/terminal.ts';
import { type CommandHandler, usageError } from '../command.ts';
import { findDatabaseAddress, withRunPlace } from '../database-option.ts';

/** `raymond worktrees`: lists the worktrees of workers and what they hold; with --prune, removes those without work. */
export const handleWorktrees: CommandHandler = async (_, options, terminal) => {
  const { cwd, env, out, err } = terminal;
  const isReal = options.yes === true;
  if (isReal && options.prune !== true) throw usageError('--yes goes with --prune', 'Write --prune --yes.');
  const found = await withRunPlace(findDatabaseAddress(options, terminal), terminal, ({ database }) => {
    if (database === null) return findWorktrees(cwd, env);
    if (options.prune === true) throw worktreesElsewhereError();
    return database.findWorktrees();
  });
  const removed = new Set<FoundWorktree>();
  const problems: string[] = [];
  if (isReal)
    await pruneWorktrees(found, env, (worktree, problem) => {
      if (problem === null) removed.add(worktree);
      else problems.push(`The worktree ${worktree.path} cannot be removed: ${problem}\n`);
    });
  if (options.json) out(`${formatJson(createWorktreesDocument(found, (each) => removed.has(each)))}\n`);
  else if (isReal) out(`Removed ${formatCount(removed.size, 'worktree')}.\n`);
  else renderWorktrees(found, options.prune === true, terminal);
  err(problems.join(''));
  return problems.length === 0 ? EXIT.completed : EXIT.usage;
};

function renderWorktrees(found: readonly FoundWorktree[], prunes: boolean, terminal: Terminal): void {
  const { out, err } = terminal;
  const empty = found.filter(({ holds }) => holds === 'nothing');
  const shown = prunes ? empty : found;
  if (shown.length === 0) {
    err(prunes ? 'There is no worktree without work.\n' : 'No worker has left a worktree here.\n');
    return;
  }
  const context = createRenderContext(terminal);
  const columns: readonly Column<FoundWorktree>[] = [
    { title: 'RUN', cell: ({ run }) => run },
    { title: 'AGENT', cell: ({ agent }) => agent },
    { title: 'HOLDS', cell: (worktree) => sanitizeLine(describeFoundWorktree(worktree)) },
  ];
  const details = ({ path, worker, branch }: FoundWorktree): readonly string[] =>
    [worker === undefined ? path : `${path} on ${worker}`, `branch ${branch}`].map((line) =>
      context.colorize('dim', `  ${sanitizeLine(line)}`),
    );
  out(`${renderTable(shown, columns, context, details).join('\n')}\n`);
  if (prunes)
    err(`Nothing was removed yet. With --yes, ${formatCount(empty.length, 'worktree')} and their branches would go.\n`);
  else if (empty.length > 0) err('To remove those that hold nothing new: raymond worktrees --prune --yes\n');
}

const worktreesElsewhereError = (): RaymondError =>
  usageError(
    'the worktrees of runs in a database are on its workers',
    '`raymond prune RUN` removes those that hold nothing new, with their run; `git worktree remove` removes one there.',
  );
