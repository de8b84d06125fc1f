/** Whether the locale has more than ASCII in the one encoding that we write; Windows has no locale in its environment. */
export function supportsUnicode(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return platform === 'win32' || /utf-?8/i.test(locale);
}

/** Each as wide as what it stands for, so that no column moves. */
const ASCII_REPLACEMENTS: Readonly<Record<string, string>> = {
  '─': '-',
  '—': '-',
  '→': '>',
  '·': '.',
  '…': '~',
  ...Object.fromEntries([...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'].map((symbol, at) => [symbol, '|/-\\'[at % 4] ?? '|'])),
};

const REPLACEABLE_SYMBOLS = new RegExp(`[${Object.keys(ASCII_REPLACEMENTS).join('')}]`, 'g');

/** Our own signs in ASCII; what others wrote stays as it is. */
export const replaceSymbolsWithAscii = (text: string): string =>
  text.replace(REPLACEABLE_SYMBOLS, (symbol) => ASCII_REPLACEMENTS[symbol] ?? symbol);
