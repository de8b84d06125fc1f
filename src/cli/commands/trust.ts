import { resolve } from 'node:path';
import { findConfigFile, findProjectFolder, loadConfig } from '../../app/config/load-config.ts';
import { describeForeignFolder, findForeignFolders } from '../../app/trust/foreign-folders.ts';
import {
  normalizeTrustedPath,
  readTrustList,
  revokeTrust,
  trustConfig,
  trustFolders,
} from '../../app/trust/trust-store.ts';
import {
  listFetchedWorkflows,
  removeFetchedWorkflow,
  requireWorkflowUrl,
} from '../../app/workflows/fetched-workflows.ts';
import { formatTomlValue } from '../../config/toml.ts';
import { EXIT, RaymondError } from '../../errors.ts';
import { sanitizeLine } from '../../render/sanitize.ts';
import type { Terminal } from '../../render/terminal/terminal.ts';
import { type CommandHandler, type ParsedOptions, usageError } from '../command.ts';
import { describeRequest, describeSettings, TRUST_QUESTION } from '../trust-questions.ts';
import { resolveWorkflowArgument } from '../workflow-argument.ts';

/** `raymond trust`: trusts the config file of this project as it is now, and a folder of another user. */
export const handleTrust: CommandHandler = async ([url], options, terminal) => {
  if (options.list) return listTrusted(terminal);
  if (options.revoke !== undefined) return revoke(options.revoke, terminal);
  if (url !== undefined) {
    requireWorkflowUrl(url);
    terminal.out(`Trusted: ${sanitizeLine(await resolveWorkflowArgument(url, terminal, options.yes === true))}\n`);
    return EXIT.completed;
  }
  const { cwd, env, out } = terminal;
  const folders = findForeignFolders([cwd, findProjectFolder(cwd)], env);
  if (folders.length > 0) {
    out(`${folders.map(({ path, owner }) => sanitizeLine(describeForeignFolder(path, owner))).join('\n')}\n`);
    out('Who owns a folder can change at any time what is run in it with your account.\n');
    await confirm('Work there nevertheless?', options, terminal);
    await trustFolders(folders, env, Date.now());
    out('Trusted, as long as it belongs to the same user.\n');
  }
  const { project, untrusted } = loadConfig(cwd, env);
  if (project === null || untrusted.length === 0) {
    if (folders.length === 0) out(describeNothingToTrust(project?.file ?? null));
    return EXIT.completed;
  }
  out(describeRequest(project, describeSettings(untrusted)));
  await confirm(TRUST_QUESTION, options, terminal);
  await trustConfig(project, env, Date.now());
  out('Trusted. After any change to the file you will be asked again.\n');
  return EXIT.completed;
};

const describeNothingToTrust = (file: string | null): string =>
  file === null
    ? 'There is no config file here, so there is nothing to trust.\n'
    : `${sanitizeLine(file)} needs no trust, or you trust it already: \`raymond trust --list\` shows what you trust.\n`;

async function confirm(question: string, { yes }: ParsedOptions, { ask }: Terminal): Promise<void> {
  if (yes) return;
  if (ask === undefined)
    throw usageError('no terminal to ask on', 'If you have read the above: `raymond trust --yes`.');
  if (await ask(question)) return;
  throw new RaymondError('Nothing was trusted.', { exitCode: EXIT.usage });
}

function listTrusted({ env, out, err }: Terminal): number {
  const { files, folders } = readTrustList(env);
  const workflows = listFetchedWorkflows(env);
  if (files.length + folders.length + workflows.length === 0) err('You have trusted nothing yet.\n');
  for (const { path, settings, trustedAt } of files) {
    out(`${sanitizeLine(path)} (since ${formatDay(trustedAt)})\n`);
    for (const [key, value] of Object.entries(settings))
      out(`  ${sanitizeLine(`${key} = ${formatTomlValue(value)}`)}\n`);
  }
  for (const { path, owner, trustedAt } of folders)
    out(`${sanitizeLine(describeForeignFolder(path, owner))} (trusted since ${formatDay(trustedAt)})\n`);
  for (const file of workflows) out(`${sanitizeLine(file)} (a workflow that was fetched)\n`);
  return EXIT.completed;
}

const formatDay = (stamp: string): string => stamp.slice(0, 'YYYY-MM-DD'.length);

async function revoke(given: NonNullable<ParsedOptions[string]>, { cwd, env, out }: Terminal): Promise<number> {
  const fetched = typeof given === 'string' ? given.slice(given.lastIndexOf('/') + 1) : '';
  if (listFetchedWorkflows(env).includes(fetched)) {
    await removeFetchedWorkflow(fetched, env);
    out(`No longer trusted, and removed: ${sanitizeLine(fetched)}\n`);
    return EXIT.completed;
  }
  const here = [cwd, findProjectFolder(cwd), findConfigFile(cwd)];
  const paths = typeof given === 'string' ? [resolve(cwd, given)] : here;
  const wanted = new Set([...paths, ...paths.map(normalizeTrustedPath)]);
  const { files, folders } = readTrustList(env);
  const trusted = [...files, ...folders].map(({ path }) => path).filter((path) => wanted.has(path));
  if (trusted.length === 0)
    throw usageError(
      typeof given === 'string' ? `you have not trusted \`${given}\`` : 'you have trusted nothing here',
      '`raymond trust --list` shows what you trust.',
    );
  await revokeTrust(trusted, env);
  for (const path of trusted) out(`No longer trusted: ${sanitizeLine(path)}\n`);
  return EXIT.completed;
}
