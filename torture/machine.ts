import { cpus, loadavg } from 'node:os';

/** What a series ran on: its figures say little without. */
export function describeMachine(): { readonly node: string; readonly machine: string } {
  const loads = loadavg().map((load) => load.toFixed(1));
  return { node: process.version, machine: `${cpus().length} × ${cpus()[0]?.model}, load ${loads.join(' ')}` };
}
