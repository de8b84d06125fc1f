import { describe, expect, test } from 'vitest';
import { type Choices, choicesProblem, chooseAnswer, readChoices } from '../../src/language/choices.ts';

const choices = (labels: string, flags: Partial<Choices> = {}): Choices => ({
  labels: labels.split('|'),
  other: false,
  many: false,
  ...flags,
});

test('choices are read from the attributes, and there are none without `choices`', () => {
  expect(readChoices({ next: 'A' })).toBeNull();
  expect(readChoices({ choices: ' Merge it | Discard ', choices_many: 'TRUE' })).toStrictEqual({
    labels: ['Merge it', 'Discard'],
    other: false,
    many: true,
  });
});

test.each([
  [{ choices: 'A' }, '`choices` needs at least two labels, such as choices="Merge|Discard"'],
  [{ choices: '' }, '`choices` has an empty label beside a `|`'],
  [{ choices: 'A||B' }, '`choices` has an empty label beside a `|`'],
  [{ choices: '1|2|3|4|5|6|7|8|9|10' }, '`choices` has 10 labels, and 9 are the most'],
  [{ choices: 'Yes|No|yes' }, '`choices` has the label yes twice'],
  [{ choices: 'A|B', choices_other: 'perhaps' }, '`choices_other` can be "true" or "false", not "perhaps"'],
  [{ choices_many: 'true' }, '`choices_many` needs `choices`, such as choices="Merge|Discard"'],
  [{ choices: '1|2|3|4|5|6|7|8|9', choices_other: 'true', choices_many: 'false' }, undefined],
])('%j is refused: %s', (attributes, problem) => {
  expect(choicesProblem(attributes)).toBe(problem);
});

describe('an answer', () => {
  const MERGE = choices('Merge|Discard|Ask Anna');

  test.each<[string, Choices, string, string | null]>([
    ['a label', MERGE, 'Merge', 'Merge'],
    ['a label in any case, with blanks around it', MERGE, ' ask anna\n', 'Ask Anna'],
    ['the number of a label', MERGE, '2', 'Discard'],
    ['a number without a label', MERGE, '4', null],
    ['any other text', MERGE, 'merge it', null],
    ['nothing', MERGE, ' ', null],
    ['several where one is wanted', MERGE, 'Merge\nDiscard', null],
    ['a label that is a number, before the number of another', choices('2|3|4'), '3', '3'],
    ['the number of a label where labels are numbers', choices('2|3|4'), '1', '2'],
    ['any text where that is welcome, word for word', choices('A|B', { other: true }), ' Neither. ', ' Neither. '],
    ['nothing, where any text is welcome', choices('A|B', { other: true }), '', null],
    ['several, one per line, in the order of the question', choices('A|B|C', { many: true }), 'c\n1\nC', 'A\nC'],
    ['several by their numbers', choices('A|B|C', { many: true }), '3, 1', 'A\nC'],
    ['several with one that is none', choices('A|B|C', { many: true }), 'A\nD', null],
    ['several with other texts', choices('A|B', { many: true, other: true }), 'b\nand more', 'B\nand more'],
    ['no line at all', choices('A|B', { many: true }), ',', null],
  ])('may be %s', (_, offered, text, expected) => {
    const answer = chooseAnswer(offered, text);
    expect(answer.kind === 'chosen' ? answer.text : null).toBe(expected);
  });

  test('that is no choice is refused with the list', () => {
    expect(chooseAnswer(MERGE, 'Perhaps')).toStrictEqual({
      kind: 'refused',
      message: '"Perhaps" is no choice: choose one of 1 Merge, 2 Discard, 3 Ask Anna',
    });
  });
});
