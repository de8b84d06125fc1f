/** Said instead of the parser's words, which speak to programmers or do not say what to do. */
const MESSAGE_BY_CODE: Readonly<Record<string, string>> = {
  BLOCK_AS_IMPLICIT_KEY: 'a value that contains a colon and a blank must stand in quotes, or under `|`',
  MULTIPLE_DOCS: 'this is a second YAML document: keep all keys in one, without `...` or `---` between them',
  RESOURCE_EXHAUSTION: 'this is nested too deeply',
  TAB_AS_INDENT: 'use blanks here, not a tab: YAML does not take tabs for indentation',
};

/** The same for errors that share their code with others. */
const MESSAGE_BY_PATTERN: readonly (readonly [RegExp, string])[] = [
  [/^Implicit map keys need to be followed/, 'there is no colon behind this key'],
  [
    /^Unexpected scalar at node end/,
    'this stands behind the end of a value: put quotes around the whole value, and write a quote within them twice',
  ],
  [
    /^Unexpected flow-(?:map|seq)-start/,
    'brackets and braces mean something in YAML: put quotes around the whole value',
  ],
  [/^Unexpected flow-(?:map|seq)-end/, 'nothing before this bracket opens it'],
  [
    /without - indicator/,
    'this belongs to no entry of the list: indent it as far as the first key of its entry, or begin it with `- `',
  ],
  [/^All mapping items must start/, 'this is indented otherwise than what it stands beside: indent both alike'],
];

/** What is wrong, and what to do, for an error of the YAML parser. */
export function explainYamlError({ code, message }: { readonly code: string; readonly message: string }): string {
  const explanation = MESSAGE_BY_CODE[code] ?? MESSAGE_BY_PATTERN.find(([pattern]) => pattern.test(message))?.[1];
  return explanation ?? message.charAt(0).toLowerCase() + message.slice(1);
}
