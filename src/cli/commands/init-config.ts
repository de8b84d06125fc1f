import { EXIT } from '../../errors.ts';
import { writeConfig } from '../../runtime/write-config.ts';
import type { Terminal } from '../../terminal/terminal.ts';

/** `raymond --init-config`: a config file to be edited. */
export async function initConfig({ cwd, out }: Terminal): Promise<number> {
  out(`Wrote ${await writeConfig(cwd)}\n`);
  out('It explains every option and sets none: take the # away from those you want.\n');
  out('`raymond config` shows what is in force.\n');
  return EXIT.completed;
}
