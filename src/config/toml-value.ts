import { stringify } from 'smol-toml';

/** A value as it is written in the config file, in one line. */
export function formatTomlValue(value: unknown): string {
  const line = stringify({ value }).trim();
  if (line.startsWith('value = ')) return line.slice('value = '.length);
  return line.startsWith('[[') ? 'a list of tables' : 'a table';
}
