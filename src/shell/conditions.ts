import { UNKNOWN } from '../core/tag-mentions.ts';
import { splitCommandWords } from './command-output.ts';
import { isExistenceTest, parseEquality } from './equality.ts';
import type { Condition } from './path-outputs.ts';
import type { CommandList, CommandNode, ShellCommand } from './syntax-tree.ts';
import type { VariableValues } from './variable-values.ts';
import { type CommandContext, listSimpleCommands, walkCommands } from './walk.ts';
import type { Word } from './word.ts';

type LoopCommand = Extract<ShellCommand, { kind: 'loop' }>;

/** Says what the conditions of a script are about. A variable or a file is also about what made it what it is. */
export class ConditionReader {
  /** What a variable gets its values of, and under which conditions. */
  private readonly relatedSubjects = new Map<string, Set<string>>();
  /** The variables in which functions write something down. */
  private readonly flags = new Set<string>();
  private readonly values: VariableValues;

  constructor(script: CommandList, values: VariableValues) {
    this.values = values;
    walkCommands(script, ({ command, redirects }, context) => {
      const deciding = findDecidingSubjects(context);
      if (command.kind === 'loop' && command.forClause !== null) this.relate(command.forClause.variable, deciding);
      if (command.kind !== 'simple') return;
      for (const word of command.words) {
        const [, variable] = /^(\w+)(?:\[[^\]]*\])?\+?=/.exec(word.text) ?? [];
        if (variable === undefined) continue;
        this.relate(variable, [...word.expansions.flatMap(subjectsOfExpansion), ...deciding]);
        if (
          context.functionName !== null &&
          word.expansions.length === 0 &&
          splitCommandWords(command.words).name === ''
        )
          this.flags.add(variable);
      }
      if (deciding.length === 0) return;
      // What is counted here says later how often one was here.
      const [first] = command.words;
      if (first?.text === '((') for (const variable of first.expansions) this.relate(variable, deciding);
      // A file that is made here says later that one was here.
      const { name, args } = splitCommandWords(command.words);
      const files = [...(FILE_COMMANDS.has(name) ? args : []), ...redirects.map(({ to }) => to)];
      for (const file of files.flatMap(subjectsOfWord)) this.relate(file, deciding);
    });
  }

  /** The condition that these commands make up. */
  readTests(test: CommandList): Condition {
    const [only, second] = listSimpleCommands(test);
    const words = second === undefined ? only?.words : undefined;
    const equality = words === undefined || test[0]?.first.negated !== false ? null : parseEquality(words);
    return {
      subjects: this.withRelated(subjectsOfList(test)),
      equality: equality === null ? null : { ...equality, allValues: this.values.allValuesOf(equality.subject) },
      isExistenceTest: words !== undefined && isExistenceTest(words),
    };
  }

  /** The condition of what follows them behind `&&` or `||`. */
  readCommands(commands: readonly CommandNode[]): Condition {
    const condition = this.readTests(toCommandList(commands));
    return { ...condition, subjects: this.withRelated([...condition.subjects, ...commands.flatMap(subjectsOfInput)]) };
  }

  /** The condition of the arms of a `case`. */
  readCaseWord(word: Word | null): Condition {
    return {
      subjects: this.withRelated(word === null ? [] : subjectsOfWord(word)),
      equality: null,
      isExistenceTest: false,
    };
  }

  /** The condition of another round of a loop that reads these. */
  readLoop(loop: LoopCommand, inputs: readonly CommandNode[]): Condition {
    const { subjects } = this.readCommands(inputs);
    return {
      subjects: this.withRelated([...subjectsOfLoop(loop), ...subjects]),
      equality: null,
      isExistenceTest: false,
    };
  }

  /** Whether it hangs on something that a function has set before. */
  dependsOnFlag({ subjects }: Condition): boolean {
    return [...subjects].some((subject) => this.flags.has(subject));
  }

  private relate(subject: string, others: readonly string[]): void {
    const related = this.relatedSubjects.get(subject) ?? new Set();
    this.relatedSubjects.set(subject, related);
    for (const other of others) related.add(other);
  }

  private withRelated(subjects: readonly string[]): ReadonlySet<string> {
    const all = new Set(subjects);
    // A set that grows is walked to its new end.
    for (const subject of all) for (const related of this.relatedSubjects.get(subject) ?? []) all.add(related);
    return all;
  }
}

/** Commands that leave a trace in the file system. */
const FILE_COMMANDS = new Set(['touch', 'rm', 'mkdir', 'rmdir', 'cp', 'mv', 'ln', 'tee']);

const toCommandList = (commands: readonly CommandNode[]): CommandList => [
  { first: { negated: false, commands }, rest: [] },
];

/** What decides whether a spot is come to. */
const findDecidingSubjects = ({ ancestors, preceding }: CommandContext): readonly string[] => [
  ...ancestors.flatMap(subjectsOfCommand),
  ...subjectsOfList(toCommandList(preceding)),
  ...preceding.flatMap(subjectsOfInput),
];

function subjectsOfCommand(command: ShellCommand): readonly string[] {
  if (command.kind === 'if') return command.arms.flatMap(({ test }) => subjectsOfList(test));
  if (command.kind === 'case') return command.word === null ? [] : subjectsOfWord(command.word);
  return command.kind === 'loop' ? subjectsOfLoop(command) : [];
}

const subjectsOfLoop = ({ test, forClause }: LoopCommand): readonly string[] => [
  ...subjectsOfList(test),
  ...(forClause?.items ?? []).flatMap(subjectsOfWord),
];

const subjectsOfList = (list: CommandList): readonly string[] =>
  listSimpleCommands(list).flatMap(({ words }) => subjectsOfWords(words));

/** What is redirected to a command. */
const subjectsOfInput = ({ redirects }: CommandNode): readonly string[] =>
  redirects.flatMap(({ op, to }) => (op.startsWith('<') ? subjectsOfWord(to) : []));

/** Commands that do something and hardly ever decide anything. */
const ACTION_COMMANDS = new Set(
  'echo printf exit return break continue mkdir rm cp mv touch cd sleep : true false'.split(' '),
);

function subjectsOfWords(words: readonly Word[]): readonly string[] {
  const { name, args } = splitCommandWords(words);
  if (ACTION_COMMANDS.has(name)) return [];
  if (name === '' || name === '((') return words.flatMap(({ expansions }) => expansions.flatMap(subjectsOfExpansion));
  return args.length === 0 ? [name] : args.flatMap(subjectsOfWord);
}

/** Operators, options and numbers say how things are compared, not which. */
const COMPARISON = /^(?:-.*|\d+|[!=<>]+|=~|\]{1,2})$/;

/** A path with a variable in it is a file, not the variable. */
function subjectsOfWord({ text, expansions }: Word): readonly string[] {
  if (text === '' || COMPARISON.test(text)) return expansions.flatMap(subjectsOfExpansion);
  const isPath = text.includes('/') && text.includes(UNKNOWN);
  return expansions.length === 0 || isPath
    ? [[text, ...expansions].join(' ')]
    : expansions.flatMap(subjectsOfExpansion);
}

/** What is asked for: a variable, or a command and what it is given. */
function subjectsOfExpansion(expansion: string): readonly string[] {
  const args = expansion.split(/[|;&\n]+/).flatMap((command) =>
    command
      .trim()
      .split(/[\s<>"'$(){}]+/)
      .slice(1),
  );
  return [expansion, ...args.filter((word) => word !== '' && !COMPARISON.test(word))];
}
