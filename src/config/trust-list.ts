import type { WrittenValue } from '../core/options/option-types.ts';
import { EXIT, RaymondError } from '../errors.ts';
import { type Config, findRiskySettings } from './config.ts';

/** A project's config file that the user has trusted, with the text it had then. */
export interface TrustedFile {
  readonly path: string;
  readonly sha256: string;
  /** The settings that were trusted, by their keys. */
  readonly settings: Readonly<Record<string, WrittenValue>>;
  readonly trustedAt: string;
}

/** A folder of another user in which this user wants to work. */
export interface TrustedFolder {
  readonly path: string;
  /** The uid of its owner at that time: it must still be the same. */
  readonly owner: number;
  readonly trustedAt: string;
}

/** Everything that the user has trusted. */
export interface TrustList {
  readonly files: readonly TrustedFile[];
  readonly folders: readonly TrustedFolder[];
}

/** The trust list of a user who has trusted nothing. */
export const EMPTY_TRUST_LIST: TrustList = { files: [], folders: [] };

/** Parses a trust list. A damaged one is refused as a whole. */
export function parseTrustList(text: string, path: string): TrustList {
  try {
    const { files, folders } = JSON.parse(text) as Partial<TrustList>;
    if (files?.every(isTrustedFile) && folders?.every(isTrustedFolder)) return { files, folders };
  } catch {}
  throw new RaymondError(`${path} is damaged: it cannot be told what you have trusted.`, {
    exitCode: EXIT.usage,
    hint: 'Remove it, then trust again with `raymond trust` where you need to.',
  });
}

const isTrustedFile = (entry: TrustedFile): boolean =>
  typeof entry.path === 'string' && typeof entry.sha256 === 'string' && typeof entry.settings === 'object';

const isTrustedFolder = (entry: TrustedFolder): boolean =>
  typeof entry.path === 'string' && typeof entry.owner === 'number';

/** The trust list as a file. */
export const serializeTrustList = (list: TrustList): string => `${JSON.stringify({ version: 1, ...list }, null, 2)}\n`;

/** True if a config file was trusted, with this very text and at this path. */
export const isTrustedConfig = ({ sha256 }: Config, path: string, { files }: TrustList): boolean =>
  files.some((entry) => entry.path === path && entry.sha256 === sha256);

/** Adds a config file to the trust list, with its present text. */
export function addTrustedFile(list: TrustList, config: Config, path: string, trustedAt: string): TrustList {
  const settings = Object.fromEntries(findRiskySettings(config).map(({ key, value }) => [key, value]));
  const entry = { path, sha256: config.sha256, settings, trustedAt };
  return { ...list, files: [...list.files.filter((each) => each.path !== path), entry] };
}

/** Adds a folder of another user to the trust list. */
export const addTrustedFolder = (list: TrustList, entry: TrustedFolder): TrustList => ({
  ...list,
  folders: [...list.folders.filter(({ path }) => path !== entry.path), entry],
});

/** Takes paths off the trust list. */
export function removeTrusted(list: TrustList, paths: readonly string[]): TrustList {
  const isKept = ({ path }: { readonly path: string }): boolean => !paths.includes(path);
  return { files: list.files.filter(isKept), folders: list.folders.filter(isKept) };
}
