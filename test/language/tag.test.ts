import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BUILT_IN_ATTRIBUTES, readTags, type Tag } from '../../src/language/tags/tag.ts';
import { TAG_NAMES } from '../../src/language/transitions/index.ts';
import { anyText, tagOf } from '../core/builders.ts';

const read = (text: string) => readTags(text, TAG_NAMES);
const tags = (...found: readonly Tag[]) => ({ kind: 'tags', tags: found });

describe('a tag', () => {
  test.each(TAG_NAMES)('may be a <%s>', (name) => {
    expect(read(`<${name}>A.md</${name}>`)).toStrictEqual(tags(tagOf(name, 'A.md')));
  });

  test.each([
    ['in any letter case', '<GoTo>A.md</gOTO>'],
    ['with blanks in the opening tag', '<goto  \t\n>A.md</goto>'],
    ['with blanks in the closing tag', '<goto>A.md</goto >'],
    ['with a line break in the closing tag', '<goto>A.md</goto\n>'],
    ['with blanks around its body', '<goto> \n\tA.md\r\n </goto>'],
    ['in the middle of a line', 'so <goto>A.md</goto>, then.'],
    ['right after another angle', '<<goto>A.md</goto>>'],
  ])('is read %s', (_, text) => {
    expect(read(text)).toStrictEqual(tags(tagOf('goto', 'A.md')));
  });

  test.each([
    ['another word that begins like one', '<gotofoo>A.md</gotofoo>'],
    ['the plural of one', '<results>x</results>'],
    ['a word joined by a dash', '<goto-x>A.md</goto-x>'],
    ['a word of other languages', '<div>x</div>'],
    ['a name after a blank', '< goto>A.md</goto>'],
    ['a closing tag alone', 'x</goto>'],
    ['an escaped one', '&lt;goto&gt;A.md&lt;/goto&gt;'],
    ['text without any angle', 'goto A.md'],
    ['nothing', ''],
  ])('is not %s', (_, text) => {
    expect(read(text)).toStrictEqual(tags());
  });

  test.each([
    ['<goto/>', 'goto'],
    ['<RESULT />', 'result'],
  ])('may close itself: %s', (text, name) => {
    expect(read(text)).toStrictEqual(tags(tagOf(name, '')));
  });

  test('has its line, with any line ending', () => {
    expect(read('a\n\r\n<goto>A</goto>\n\n x <goto\n>B</goto><goto>C</goto>')).toStrictEqual(
      tags(tagOf('goto', 'A', {}, 3), tagOf('goto', 'B', {}, 5), tagOf('goto', 'C', {}, 6)),
    );
  });
});

describe('an attribute', () => {
  test.each([
    ['in double quotes', 'item="a b"', { item: 'a b' }],
    ['in single quotes', "item='a b'", { item: 'a b' }],
    ['without quotes', 'item=a/b=c', { item: 'a/b=c' }],
    ['with the other quote in it', `a="it's" b='say "x"'`, { a: "it's", b: 'say "x"' }],
    ['with blanks and line breaks around =', 'a = "1" b\n=\n"2" c\t=\r\n3', { a: '1', b: '2', c: '3' }],
    ['with blanks and line breaks between them', 'a="1"\n\t  b="2"\r\n', { a: '1', b: '2' }],
    ['without a blank between them', 'a="1"b="2"', { a: '1', b: '2' }],
    ['without a value', 'a b="1"', { a: '', b: '1' }],
    ['with an empty value', `a="" b=''`, { a: '', b: '' }],
    ['with > in quotes', `a="x > y" b='>'`, { a: 'x > y', b: '>' }],
    ['with < and tags in quotes', 'a="</fork><goto>B</goto>"', { a: '</fork><goto>B</goto>' }],
    ['with a slash in quotes', 'a="/>"', { a: '/>' }],
    ['with line breaks in quotes', 'a="x\ny"', { a: 'x\ny' }],
    ['with outer blanks in quotes', 'a=" x "', { a: ' x ' }],
    ['without decoding entities', 'a="&lt;&quot;&#10;"', { a: '&lt;&quot;&#10;' }],
    ['without taking $ or \\ for special', 'a="$& \\" b=\\n', { a: '$& \\', b: '\\n' }],
    [
      'with dashes and any letter in its name',
      'data-größe="1" _x.y:z="2" ключ="3"',
      { 'data-größe': '1', '_x.y:z': '2', ключ: '3' },
    ],
    ["an author's own exactly as written", 'Item="1" item="2" ITEM="3"', { Item: '1', item: '2', ITEM: '3' }],
    ['named like a property of every object', 'constructor="1" toString="2"', { constructor: '1', toString: '2' }],
    ['with backticks in its value', 'a="use `x` and `>`"', { a: 'use `x` and `>`' }],
  ])('is read %s', (_, written, attributes) => {
    expect(read(`<fork ${written}>W</fork>`)).toStrictEqual(tags(tagOf('fork', 'W', attributes)));
  });

  test.each(BUILT_IN_ATTRIBUTES)('is read in any letter case if it belongs to the language: %s', (name) => {
    const mixed = name.replace(/^./, (first) => first.toUpperCase());
    const expected = tags(tagOf('fork', 'W', { [name]: 'V' }));
    expect(read(`<fork ${name.toUpperCase()}="V">W</fork>`)).toStrictEqual(expected);
    expect(read(`<fork ${mixed}="V">W</fork>`)).toStrictEqual(expected);
  });

  test('is reported if it is given more than once, and the last one wins', () => {
    expect(read('<fork a="1" next="N" a="2" NEXT="M" a=3>W</fork>')).toStrictEqual(
      tags({ ...tagOf('fork', 'W', { a: '3', next: 'M' }), repeated: ['a', 'next'] }),
    );
  });

  test('may be named __proto__', () => {
    const [tag] = [read('<fork __proto__="x">W</fork>')].flatMap((reading) =>
      reading.kind === 'tags' ? reading.tags : [],
    );
    expect(Object.entries(tag?.attributes ?? {})).toStrictEqual([['__proto__', 'x']]);
  });
});

describe('the content of a result', () => {
  test.each([
    ['tags', 'see <goto>A.md</goto> and <fork next="N">W</fork>'],
    ['another result', 'a <result>b</result> c'],
    ['results in results', '<result><RESULT>a</RESULT></result><result>b</result>'],
    ['a result that closes itself', 'a <result/> b <result /> c'],
    ['a closing tag of another kind', 'a </goto> b'],
    ['words that begin like one', '<results> </results>'],
    ['its own closing tag in code', 'end with `</result>`'],
    ['an opening tag in code', 'begin with `<result>`'],
    ['code with both fences', '\n```js\nx("</result>")\n```\n'],
    ['a comment with its closing tag', 'a <!-- </result> --> b'],
    ['signs of every kind', '& < > " \' $& \\ {{x}} \0 \ud800'],
    ['nothing', ''],
  ])('is payload, byte for byte except for outer blanks: %s', (_, payload) => {
    expect(read(`<result> ${payload}\n</result>`)).toStrictEqual(tags(tagOf('result', payload.trim())));
  });
});

describe('comments and code', () => {
  test.each([
    ['a comment', '<!-- <goto>B</goto> -->'],
    ['a comment over lines', '<!--\n<goto>B</goto>\n-->'],
    ['inline code', '`<goto>B</goto>`'],
    ['inline code of two backticks', '``<goto>B</goto> ` ``'],
    ['fenced code', '```xml\n<goto>B</goto>\n```'],
    ['code fenced with tildes', '~~~\n<result>\n~~~'],
    ['quoted fenced code', '> ```\n> <goto>B</goto>\n> ```'],
    ['code that would not even be a tag', '`<goto`'],
    ['a comment in code', '`<!-- <goto>B</goto> -->`'],
  ])('a tag in %s does not count beside one outside', (_, aside) => {
    expect(read(`<goto>A</goto>\n${aside}\n`)).toStrictEqual(tags(tagOf('goto', 'A')));
    const line = aside.split('\n').length + 1;
    expect(read(`${aside}\n<goto>A</goto>`)).toStrictEqual(tags(tagOf('goto', 'A', {}, line)));
  });

  test.each([
    ['inline code', 'I say `<goto input="a > b">A</goto>`.', 1],
    ['fenced code', '```xml\n<goto input="a > b">A</goto>\n```', 2],
    ['code fenced with tildes', '\n~~~\n<goto input="a > b">A</goto>\n~~~\n', 3],
    ['a fence that is never closed', '```\n<goto input="a > b">A</goto>\n', 2],
    ['a tag cut into pieces of code', '`<goto input="a > b">`A`</goto>`', 1],
  ])('a tag in %s counts if there is no tag outside', (_, text, line) => {
    const body = text.includes('`A`') ? '`A`' : 'A';
    expect(read(text)).toStrictEqual(tags(tagOf('goto', body, { input: 'a > b' }, line)));
  });

  test('several tags in code all count if there is none outside', () => {
    expect(read('`<goto>A</goto>`\n```\n<goto>B</goto>\n```')).toStrictEqual(
      tags(tagOf('goto', 'A'), tagOf('goto', 'B', {}, 3)),
    );
  });

  test('a fenced result may contain fences', () => {
    const payload = 'see:\n```js\nx\n```\nand `y`';
    expect(read(`\`\`\`xml\n<result>\n${payload}\n</result>\n\`\`\``)).toStrictEqual(
      tags(tagOf('result', payload, {}, 2)),
    );
  });

  test.each([
    ['outside code', '<!-- <goto>A</goto> -->'],
    ['in inline code', '`<!-- <goto>A</goto> -->`'],
    ['in fenced code', '```html\n<!--\n<goto>A</goto>\n-->\n```'],
  ])('a tag in a comment never counts: %s', (_, text) => {
    expect(read(text)).toStrictEqual(tags());
  });

  test('a comment inside a tag hides nothing of its body and its values', () => {
    expect(read('<goto input="<!-- x -->">A<!-- y --></goto>')).toStrictEqual(
      tags(tagOf('goto', 'A<!-- y -->', { input: '<!-- x -->' })),
    );
  });

  test('an unclosed tag outside code is an error, even beside one in code', () => {
    expect(read('`<goto>A</goto>` <goto>B').kind).toBe('unclosed');
  });
});

describe('a tag that cannot be read', () => {
  const NOT_CLOSED = 'the `<goto>` on line 3 has no `</goto>`';
  const NOT_COMPLETE = 'the `<goto` on line 3 is not a complete tag';
  const BROKEN_QUOTE = `${NOT_COMPLETE}; probably an attribute contains a quote: hand such a text over with \`input-file="PATH"\``;

  test.each([
    ['without a closing tag', '<goto>A', NOT_CLOSED],
    ['closed by another', '<goto>A</result>', NOT_CLOSED],
    ['with half a closing tag', '<goto>A</goto', NOT_CLOSED],
    ['with a closing tag only in a comment', '<goto>A<!-- </goto> -->', NOT_CLOSED],
    ['with another of its kind open in it', '<goto>A<goto>B</goto>', NOT_CLOSED],
    ['that ends with the text', '<goto', NOT_COMPLETE],
    ['that ends in its attributes', '<goto input="x" ', BROKEN_QUOTE],
    ['that ends in a quote', '<goto input="x>A</goto>', BROKEN_QUOTE],
    ['with a quote in a value', '<goto input="say "x"">A</goto>', BROKEN_QUOTE],
    ['with a value that is missing', '<goto input=>A</goto>', NOT_COMPLETE],
    ['with another angle in it', '<goto <b>A</goto>', NOT_COMPLETE],
    ['with a stray quote', '<goto ">A</goto>', NOT_COMPLETE],
    ['with a stray slash', '<goto / x>A</goto>', NOT_COMPLETE],
  ])('is reported with its line: one %s', (_, text, message) => {
    expect(read(`a\nb\nc ${text}`)).toStrictEqual({ kind: 'unclosed', name: 'goto', line: 3, message });
  });

  test('makes the whole message invalid, even after a valid one', () => {
    expect(read('<goto>A</goto>\n<Result>x')).toStrictEqual({
      kind: 'unclosed',
      name: 'result',
      line: 2,
      message: 'the `<result>` on line 2 has no `</result>`',
    });
  });
});

describe('any text', () => {
  test('is read without throwing, and every tag is part of it', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const reading = read(text);
        const lines = text.split('\n');
        const found = reading.kind === 'tags' ? reading.tags : [reading];
        for (const { name, line } of found) {
          expect(TAG_NAMES).toContain(name);
          expect(lines[line - 1]?.toLowerCase()).toContain(`<${name}`);
        }
        for (const { body, attributes, repeated } of reading.kind === 'tags' ? reading.tags : []) {
          expect(text).toContain(body);
          expect(body).toBe(body.trim());
          for (const [name, value] of Object.entries(attributes)) {
            expect(text.toLowerCase()).toContain(name.toLowerCase());
            expect(text).toContain(value);
          }
          expect(Object.keys(attributes)).toStrictEqual(expect.arrayContaining([...repeated]));
        }
      }),
      { numRuns: 2000 },
    );
  });

  test('is ignored in the place of a comment', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const aside = text.replaceAll('--', '');
        const reading = read(`<!-- ${aside} -->\n<goto>A</goto>`);
        expect(reading).toStrictEqual(tags(tagOf('goto', 'A', {}, aside.split('\n').length + 1)));
      }),
    );
  });
});

describe('a formatted tag', () => {
  const isOwn = (name: string) => (BUILT_IN_ATTRIBUTES as readonly string[]).includes(name.toLowerCase());
  const nameOf = fc
    .string({ unit: fc.constantFrom(...'abcXYZéж-_.:09'), minLength: 1, maxLength: 8 })
    .filter((name) => !isOwn(name));
  const anyCase = (word: string) =>
    fc
      .array(fc.boolean(), { minLength: word.length, maxLength: word.length })
      .map((upper) => [...word].map((letter, i) => (upper[i] ? letter.toUpperCase() : letter)).join(''));
  const unit = fc.oneof(
    fc.constantFrom(...` \n\r\t<>&="'/$\\{}😀\0`),
    fc.constantFrom(...'abc'),
    fc.constantFrom('\ud800'),
  );
  const value = fc.string({ unit, maxLength: 12 }).map((text) => text.replaceAll('"', text.includes("'") ? '' : '"'));
  const blanks = fc.constantFrom('', ' ', '\n', '\t ', '\r\n');
  const body = fc.string({ unit, maxLength: 30 }).map((text) => text.trim());
  const tag = fc.constantFrom(...TAG_NAMES).chain((name) =>
    fc.record({
      name: fc.constant(name),
      written: anyCase(name),
      closed: anyCase(name),
      own: fc
        .uniqueArray(fc.constantFrom(...BUILT_IN_ATTRIBUTES))
        .chain((names) => fc.tuple(...names.map((own) => fc.tuple(fc.constant<string>(own), anyCase(own), value)))),
      authors: fc.uniqueArray(fc.tuple(nameOf, value), { selector: ([each]) => each, maxLength: 4 }),
      body,
      blanks,
    }),
  );

  test('is read back the same', () => {
    fc.assert(
      fc.property(tag, ({ name, written, closed, own, authors, body: payload, blanks: gap }) => {
        const all = [...own, ...authors.map(([each, text]) => [each, each, text] as const)];
        const attributes = all.map(([, each, text]) => {
          const quote = text.includes('"') ? "'" : '"';
          return ` ${gap}${each}${gap}=${gap}${quote}${text}${quote}`;
        });
        const text = `<${written}${attributes.join('')}${gap}>${gap}${payload}${gap}</${closed}${gap}>`;
        const expected = tagOf(name, payload, Object.fromEntries(all.map(([each, , given]) => [each, given])));
        expect(read(text)).toStrictEqual(tags(expected));
        expect(read(`<!-- ${name} -->${text}`)).toStrictEqual(tags(expected));
        expect(read(`\`\`\`\n${text}\n\`\`\``)).toStrictEqual(tags({ ...expected, line: 2 }));
      }),
      { numRuns: 300 },
    );
  });
});

test.each(['Done; the `<goto>` tag is not needed.', 'Done.\n```\n<call return="X\n```\n'])(
  'an incomplete tag in code is ignored: %j',
  (text) => {
    expect(readTags(text, ['goto', 'call'])).toStrictEqual({ kind: 'tags', tags: [] });
  },
);

describe('what is in a <print>', () => {
  test('does not count', () => {
    expect(read('<print>then <goto>A</goto></print> <goto>B</goto>')).toStrictEqual(tags(tagOf('goto', 'B')));
  });

  test('counts if the <print> is never closed', () => {
    expect(read('a <print> <goto>A</goto>')).toStrictEqual(tags(tagOf('goto', 'A')));
  });

  test('counts behind one that is only mentioned', () => {
    expect(read('<print> <goto>A</goto> <print>b</print>')).toStrictEqual(tags(tagOf('goto', 'A')));
  });

  test('belongs to the text of a result around it', () => {
    expect(read('<result>a <print>b</print></result>')).toStrictEqual(tags(tagOf('result', 'a <print>b</print>')));
  });
});
