/** Whether the locale has more than ASCII in the one encoding that we write; Windows has no locale in its environment. */
export function knowsUnicode(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || '';
  return platform === 'win32' || /utf-?8/i.test(locale);
}

/** Each as wide as what it stands for, so that no column moves. */
const SIGNS: Readonly<Record<string, string>> = {
  '─': '-',
  '—': '-',
  '→': '>',
  '·': '.',
  '…': '~',
  ...Object.fromEntries([...'⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏'].map((sign, at) => [sign, '|/-\\'[at % 4] ?? '|'])),
};

const ALL = new RegExp(`[${Object.keys(SIGNS).join('')}]`, 'g');

/** Our own signs in ASCII; what others wrote stays as it is. */
export const plainSigns = (text: string): string => text.replace(ALL, (sign) => SIGNS[sign] ?? sign);
