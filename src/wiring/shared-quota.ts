import { join } from 'node:path';
import { findUserConfigFolder } from '../config/user-folder.ts';
import type { Quota } from '../core/run/quota.ts';
import type { Clock } from '../process/clock.ts';
import type { Environment } from '../process/command.ts';
import type { QuotaExchange } from '../turns/turn-context.ts';

/*
 * The first Claude turn loads the code that reads and checks the file: a run of scripts needs none of it.
 */

/** The quota of the account that Claude Code uses now, as this user's runs know it; null without a subscription. */
export async function readSharedQuota(env: Environment, now: number): Promise<Quota | null> {
  const { findAccountKey, usesSubscription } = await import('../turns/claude/account.ts');
  if (!usesSubscription(env)) return null;
  const { readQuotaFile } = await import('./quota-file.ts');
  const account = await findAccountKey(env);
  const file = findQuotaFile(env);
  return file === null ? { account, windows: {} } : readQuotaFile(file, account, now);
}

/** The quota of a run's account, shared with the other runs of the user; canned answers are shared with nobody. */
export class SharedQuota implements QuotaExchange {
  /** Resolves when everything that was reported is in the file. */
  written: Promise<unknown> = Promise.resolve();
  private readonly env: Environment;
  private readonly clock: Clock;
  private readonly isCanned: boolean;
  private readonly tell: (quota: Quota) => void;
  private account: string | null = null;
  private lastNews = '';
  private lastReport = '';

  constructor(env: Environment, clock: Clock, isCanned: boolean, tell: (quota: Quota) => void) {
    this.env = env;
    this.clock = clock;
    this.isCanned = isCanned;
    this.tell = tell;
    if (isCanned) this.account = 'canned';
  }

  async news(): Promise<Quota | undefined> {
    if (this.isCanned) return undefined;
    const quota = await readSharedQuota(this.env, this.clock.now());
    const before = this.account;
    this.account = quota?.account ?? null;
    const isNew = Object.keys(quota?.windows ?? {}).length > 0 || (before !== null && before !== this.account);
    const text = JSON.stringify(quota);
    if (quota === null || !isNew || text === this.lastNews) return undefined;
    this.lastNews = text;
    return quota;
  }

  report(windows: Quota['windows']): void {
    const text = JSON.stringify(Object.entries(windows).map(([type, window]) => [type, { ...window, reportedAt: 0 }]));
    if (text === this.lastReport || Object.keys(windows).length === 0) return;
    this.lastReport = text;
    // The account is known since the turn was prepared, but for one that was started by an earlier process.
    if (this.account !== null) this.share({ account: this.account, windows });
    else
      this.written = this.written.then(async () => {
        const { findAccountKey } = await import('../turns/claude/account.ts');
        this.share({ account: await findAccountKey(this.env), windows });
      });
  }

  private share(quota: Quota): void {
    this.account = quota.account;
    this.tell(quota);
    const file = this.isCanned ? null : findQuotaFile(this.env);
    if (file === null) return;
    this.written = this.written.then(async () => {
      const { updateQuotaFile } = await import('./quota-file.ts');
      await updateQuotaFile(file, quota, this.clock.now());
    });
  }
}

function findQuotaFile(env: Environment): string | null {
  const folder = findUserConfigFolder(env);
  return folder === null ? null : join(folder, 'quota.json');
}
