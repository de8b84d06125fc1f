import { type Token, tokenize } from './lexer.ts';
import type {
  AndOrList,
  CaseArm,
  CommandList,
  CommandNode,
  ForClause,
  IfArm,
  Pipeline,
  Redirect,
  ShellCommand,
} from './syntax-tree.ts';
import type { Word } from './word.ts';

/** Makes a tree of a bash script; undefined if it is not one that we understand. */
export function parseScript(script: string): CommandList | undefined {
  const tokens = tokenize(script);
  if (tokens === undefined) return undefined;
  const parser = new Parser(tokens);
  const list = parser.list([]);
  return parser.failed || !parser.atEnd ? undefined : list;
}

const DEEPEST = 100;
/** No command begins with these. */
const OUT_OF_PLACE = ['then', 'elif', 'else', 'fi', 'do', 'done', 'esac', '}'];

const ARM_ENDS = [';;&', ';;', ';&'] as const;
const SEPARATORS = [';', '\n', '&'];

class Parser {
  failed = false;
  private readonly tokens: readonly Token[];
  private next = 0;
  private depth = 0;

  constructor(tokens: readonly Token[]) {
    this.tokens = tokens;
  }

  get atEnd(): boolean {
    return this.next >= this.tokens.length;
  }

  /** Commands up to one of these words or operators, which is left. */
  list(enders: readonly string[]): CommandList {
    const chains: AndOrList[] = [];
    while (!this.failed) {
      while (SEPARATORS.some((op) => this.isOp(op))) this.next += 1;
      if (this.atEnd || enders.some((ender) => this.isOp(ender) || this.isReserved(ender))) break;
      chains.push(this.chain());
      if (!this.atEnd && !SEPARATORS.some((op) => this.isOp(op)) && !enders.some((ender) => this.isOp(ender))) {
        this.fail();
      }
    }
    return chains;
  }

  private chain(): AndOrList {
    const first = this.pipeline();
    const rest: { op: '&&' | '||'; pipeline: Pipeline }[] = [];
    while (!this.failed && (this.isOp('&&') || this.isOp('||'))) {
      const op = this.isOp('&&') ? '&&' : '||';
      this.next += 1;
      this.skipLines();
      rest.push({ op, pipeline: this.pipeline() });
    }
    return { first, rest };
  }

  private pipeline(): Pipeline {
    let negated = false;
    for (; this.isReserved('!') || this.isReserved('time'); this.next++) if (this.isReserved('!')) negated = !negated;
    const parts = [this.part()];
    while (!this.failed && (this.isOp('|') || this.isOp('|&'))) {
      this.next += 1;
      this.skipLines();
      parts.push(this.part());
    }
    return { negated, commands: parts };
  }

  private part(): CommandNode {
    const token = this.tokens[this.next];
    if (token === undefined || ++this.depth > DEEPEST) this.fail();
    const redirects: Redirect[] = [];
    const command = this.command(redirects);
    while (this.redirect(redirects)) {}
    this.depth -= 1;
    return { at: token?.at ?? 0, command, redirects };
  }

  private command(redirects: Redirect[]): ShellCommand {
    if (this.takeReserved('if')) return this.conditional();
    if (this.takeReserved('case')) return this.choice();
    if (this.takeReserved('while')) return this.loop('while', null, this.list(['do']));
    if (this.takeReserved('until')) return this.loop('until', null, this.list(['do']));
    if (this.takeReserved('for') || this.takeReserved('select')) return this.forLoop();
    if (this.takeReserved('function')) return this.definition();
    if (this.takeReserved('{')) return this.group('}', false);
    if (this.isOp('(')) {
      this.next += 1;
      return this.group(')', true);
    }
    const name = this.tokens[this.next];
    if (name?.kind === 'word' && this.isOp('(', 1) && this.isOp(')', 2)) return this.definition();
    return this.simple(redirects);
  }

  private simple(redirects: Redirect[]): ShellCommand {
    const words: Word[] = [];
    if (OUT_OF_PLACE.some((word) => this.isReserved(word))) this.fail();
    const isTest = this.isReserved('[[');
    for (;;) {
      const token = this.tokens[this.next];
      const inTest = isTest && words.at(-1)?.text !== ']]';
      if (token === undefined && inTest) this.fail();
      if (token === undefined) break;
      if (inTest && token.kind === 'operator') this.next += 1;
      else if (token.kind === 'word') {
        words.push(token);
        this.next += 1;
      } else if (!this.redirect(redirects)) break;
    }
    if (words.length === 0 && redirects.length === 0) this.fail();
    return { kind: 'simple', words };
  }

  private redirect(redirects: Redirect[]): boolean {
    const [token, to] = [this.tokens[this.next], this.tokens[this.next + 1]];
    if (token?.kind !== 'operator' || !/[<>]/.test(token.op) || to?.kind !== 'word') return false;
    redirects.push({ op: token.op, fd: token.fd, to, document: token.document });
    this.next += 2;
    return true;
  }

  private conditional(): ShellCommand {
    const arms: IfArm[] = [];
    do {
      const test = this.list(['then']);
      this.expect('then');
      arms.push({ test, body: this.list(['elif', 'else', 'fi']) });
    } while (!this.failed && this.takeReserved('elif'));
    const otherwise = this.takeReserved('else') ? this.list(['fi']) : null;
    this.expect('fi');
    return { kind: 'if', arms, elseBody: otherwise };
  }

  private choice(): ShellCommand {
    const arms: CaseArm[] = [];
    const word = this.tokens[this.next];
    this.next += 1;
    this.skipLines();
    this.expect('in');
    this.skipLines();
    while (!this.failed && !this.isReserved('esac')) {
      if (this.isOp('(')) this.next += 1;
      const patterns = this.patterns();
      const body = this.list([...ARM_ENDS, 'esac']);
      if (this.atEnd) this.fail();
      const end = ARM_ENDS.find((op) => this.isOp(op)) ?? ';;';
      if (!this.isReserved('esac')) this.next += 1;
      arms.push({ patterns, body, end });
      this.skipLines();
    }
    this.expect('esac');
    const total = arms.some(({ patterns }) => patterns.some(({ plain, text }) => plain && text === '*'));
    return { kind: 'case', word: word?.kind === 'word' ? word : null, arms, hasDefaultArm: total };
  }

  private patterns(): readonly Word[] {
    const patterns: Word[] = [];
    for (; !this.isOp(')') && !this.atEnd; this.next++) {
      const pattern = this.tokens[this.next];
      if (pattern?.kind === 'word') patterns.push(pattern);
    }
    this.next += 1;
    return patterns;
  }

  /** Over items, over the arguments of the script, or one that counts. */
  private forLoop(): ShellCommand {
    const [variable, ...items] = this.wordsBefore('do');
    if (variable === undefined || variable.text === '((') return this.loop('for', null, []);
    return this.loop('for', { variable: variable.text, items: items.length > 0 ? items.slice(1) : null }, []);
  }

  private wordsBefore(end: string): readonly Word[] {
    const words: Word[] = [];
    for (; !this.atEnd && !this.isReserved(end); this.next++) {
      const token = this.tokens[this.next];
      if (token?.kind === 'word') words.push(token);
    }
    return words;
  }

  private loop(word: 'for' | 'while' | 'until', over: ForClause | null, test: CommandList): ShellCommand {
    this.expect('do');
    const body = this.list(['done']);
    this.expect('done');
    return { kind: 'loop', keyword: word, forClause: over, test, body };
  }

  private group(end: string, subshell: boolean): ShellCommand {
    const body = this.list([end]);
    if (subshell && this.isOp(end)) this.next += 1;
    else this.expect(end);
    return { kind: 'group', body, subshell };
  }

  private definition(): ShellCommand {
    const name = this.tokens[this.next];
    this.next += 1;
    if (this.isOp('(') && this.isOp(')', 1)) this.next += 2;
    this.skipLines();
    return { kind: 'function', name: name?.kind === 'word' ? name.text : '', body: this.part() };
  }

  private expect(word: string): void {
    if (!this.takeReserved(word)) this.fail();
  }

  private takeReserved(word: string): boolean {
    const found = this.isReserved(word);
    if (found) this.next += 1;
    return found;
  }

  private skipLines(): void {
    while (this.isOp('\n')) this.next += 1;
  }

  private isReserved(word: string): boolean {
    const token = this.tokens[this.next];
    return token?.kind === 'word' && token.plain && token.text === word;
  }

  private isOp(op: string, ahead = 0): boolean {
    const token = this.tokens[this.next + ahead];
    return token?.kind === 'operator' && token.op === op;
  }

  private fail(): void {
    this.failed = true;
    this.next = this.tokens.length;
  }
}
