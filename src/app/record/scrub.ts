import { posix } from 'node:path';
import { isSecretName } from '../../language/secret-names.ts';

/** The texts that must not appear in a recording. */
export interface ScrubOptions {
  /** Folders that paths are made relative to. The first that fits counts. */
  readonly folders: readonly string[];
  readonly home: string;
  /** Names of folders in the root folder of this machine. */
  readonly roots: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/** Replaces secrets in recordings. */
export const SECRET_MASK = '[masked]';
const ELSEWHERE = '/elsewhere';

/** Creates a function that removes keys, tokens and paths of this machine from texts. */
export function createScrubber({ folders, home, roots, env }: ScrubOptions): (text: string) => string {
  const secrets = secretValues(env);
  const folderSpellings = folders.flatMap((folder) => [folder, folder.replaceAll('/', '\\')]);
  const absolutePathPattern = new RegExp(
    `(?<![\\w.~/\\\\<-])/(?:${[...new Set([...COMMON_ROOTS, ...roots])].map(escapeRegExp).join('|')})(?:/${SEGMENT}*)*(?![\\w.-])`,
    'g',
  );
  return (text) => {
    let clean = text;
    for (const secret of secrets) clean = clean.replaceAll(secret, SECRET_MASK);
    for (const [pattern, replacement] of SECRET_PATTERNS) clean = clean.replace(pattern, replacement);
    for (const folder of folderSpellings) clean = replaceFolder(clean, folder, '', '.');
    clean = replaceFolder(clean, home, '~/', '~').replace(HOME_PATHS, '~');
    clean = clean.replace(absolutePathPattern, (path) =>
      isStandardPath(path) ? path : `${ELSEWHERE}/${posix.basename(path)}`,
    );
    return clean.replace(DRIVE_PATHS, (path) => `${ELSEWHERE}/${path.split(/[\\/]/).findLast(Boolean) ?? ''}`);
  };
}

const SEGMENT = '[^\\s/"\'`<>|(){}\\[\\],;:*?!$&=]';
const HOME_PATHS = new RegExp(
  `(?<![\\w.~])(?:/(?:home|Users)/${SEGMENT}+|[A-Za-z]:\\\\Users\\\\[^\\s\\\\"'\`<>|]+)`,
  'g',
);
const DRIVE_PATHS = /(?<!\w)[A-Za-z]:\\[^\s"'`<>|]+/g;

/** Root folders of other machines, whatever this one has. */
const COMMON_ROOTS = [
  'home',
  'Users',
  'root',
  'tmp',
  'var',
  'private',
  'opt',
  'mnt',
  'media',
  'srv',
  'etc',
  'usr',
  'Volumes',
];

/** Paths that are the same on every machine are kept: they reveal nothing, and programs rely on them. */
const isStandardPath = (path: string): boolean => /^\/(bin|sbin|usr\/bin|usr\/sbin|dev)(\/|$)/.test(path);

/** Makes paths in a folder relative to it; the folder itself becomes its alias. */
function replaceFolder(text: string, folder: string, prefix: string, folderAlias: string): string {
  if (!/[^/\\]/.test(folder)) return text;
  const trimmed = folder.replace(/[/\\]+$/, '');
  // A short path, such as /app, may be a part of other paths, too.
  const boundary = /[/\\].*[/\\]/.test(trimmed) ? '' : '(?<![\\w.~-])';
  return text
    .replace(new RegExp(`${boundary}${escapeRegExp(trimmed)}[/\\\\](?=[\\w.@+~-])`, 'g'), () => prefix)
    .replace(new RegExp(`${boundary}${escapeRegExp(trimmed)}[/\\\\]?(?![\\w-]|\\.\\w)`, 'g'), () => folderAlias);
}

/** The formats of well-known keys and tokens. */
const SECRET_PATTERNS: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g, SECRET_MASK],
  [/\b(?:sk|pk|rk)[-_](?=[\w-]{0,40}\d)[\w-]{16,}/g, SECRET_MASK],
  [/\b(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|pypi-|xox[abeprs]-|shpat_|dop_v1_)[A-Za-z0-9_-]{10,}/g, SECRET_MASK],
  [/\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g, SECRET_MASK],
  [/\bAIza[A-Za-z0-9_-]{30,}/g, SECRET_MASK],
  [/\bey[A-Za-z0-9_-]{10,}\.ey[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*/g, SECRET_MASK],
  [/\b((?:Bearer|Basic)\s+)[A-Za-z0-9._~+/=-]{12,}/g, `$1${SECRET_MASK}`],
  [/(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s/:@]+:)[^\s/@]+(?=@)/gi, `$1${SECRET_MASK}`],
  // A name for a secret, and a value that is no plain word: it has letters and digits.
  [
    /\b([\w-]{0,40}(?:api[-_]?key|token|secret|passw(?:or)?d|passphrase|credential|private[-_]?key|access[-_]?key)[\w-]*["']?\s*[:=]\s*["']?)(?=[^\s"'`,;<>(){}]*\d)(?=[^\s"'`,;<>(){}]*[A-Za-z])[^\s"'`,;<>(){}]{8,}/gi,
    `$1${SECRET_MASK}`,
  ],
];

/** The values of environment variables whose names call them secret. */
function secretValues(env: NodeJS.ProcessEnv): readonly string[] {
  return Object.entries(env)
    .filter(([name]) => isSecretName(name))
    .map(([, value = '']) => value)
    .filter((value) => value.length >= MIN_SECRET_LENGTH && !/^[/~]|^\w+:\/\/[^@]*$/.test(value))
    .sort((a, b) => b.length - a.length);
}

const MIN_SECRET_LENGTH = 8;

const escapeRegExp = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
