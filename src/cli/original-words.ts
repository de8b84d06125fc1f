import { splitLeadingFolders } from './leading-folders.ts';

/*
 * The program that Raymond's protocol comes from has command lines of its own, which scripts and habits still use. They mean
 * the same here: each is spelled as Raymond spells it before anything else looks at the words.
 */

/** Flags that are commands here. */
const FLAG_COMMANDS: Readonly<Record<string, string>> = {
  '--list': 'list',
  '--recover': 'recover',
  '--status': 'status',
};

const COMMANDS: Readonly<Record<string, string>> = { diagram: 'graph' };

/** Flags with another name, by command; one without a name here has a value that is an argument. */
const FLAGS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  run: { '--workflow-id': ['--run-id'] },
  lint: { '--win': ['--platform', 'windows'] },
  graph: { '--win': ['--platform', 'windows'] },
  convert: { '--output': [], '-o': [] },
};

const ASK_MODES: Readonly<Record<string, string>> = { pause: 'exit', reject: 'fail' };

/** Spells the words of the original's command lines as Raymond's own; any others stay as they are. */
export function translateOriginalWords(argv: readonly string[], commands: readonly string[]): readonly string[] {
  const { folders, words } = splitLeadingFolders(argv);
  return [...folders.flatMap((folder) => ['-C', folder]), ...translateWords(words, commands)];
}

function translateWords(words: readonly string[], commands: readonly string[]): readonly string[] {
  const [first, ...rest] = words;
  if (first === undefined) return words;
  if (first.startsWith('-')) {
    const at = words.findIndex((word) => flagName(word) in FLAG_COMMANDS);
    const found = words[at];
    if (found !== undefined) {
      const [name, value] = splitFlag(found);
      const command = FLAG_COMMANDS[name] ?? '';
      return [command, ...(value === null ? [] : [value]), ...words.slice(0, at), ...words.slice(at + 1)];
    }
  }
  const command = COMMANDS[first] ?? first;
  const isRun = !commands.includes(command) || command === 'start';
  const flags = FLAGS[isRun ? 'run' : command] ?? {};
  const end = rest.indexOf('--');
  const before = end === -1 ? rest : rest.slice(0, end);
  const own = isRun && first.startsWith('-') ? [first, ...before] : before;
  const head = isRun && first.startsWith('-') ? [] : [command];
  return [...head, ...own.flatMap((word, at) => translateWord(word, own[at - 1], flags)), ...rest.slice(before.length)];
}

function translateWord(
  word: string,
  previous: string | undefined,
  flags: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  if (previous === '--on-ask') return [ASK_MODES[word] ?? word];
  const [name, value] = splitFlag(word);
  if (name === '--on-ask' && value !== null) return [`${name}=${ASK_MODES[value] ?? value}`];
  if (name === '--dangerously-skip-permissions' && value !== null)
    return [value === 'false' ? '--no-dangerously-skip-permissions' : name];
  const spelled = Object.hasOwn(flags, name) ? flags[name] : undefined;
  return spelled === undefined ? [word] : [...spelled, ...(value === null ? [] : [value])];
}

const flagName = (word: string): string => splitFlag(word)[0];

/** `--name=value` as its two parts; the value is null if there is none. */
function splitFlag(word: string): readonly [name: string, value: string | null] {
  const at = word.indexOf('=');
  return word.startsWith('-') && at !== -1 ? [word.slice(0, at), word.slice(at + 1)] : [word, null];
}
