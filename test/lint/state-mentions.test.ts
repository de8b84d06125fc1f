import { describe, expect, test } from 'vitest';
import { detectStateMentions } from '../../src/lint/state-mentions.ts';

describe('a prompt speaks of a state', () => {
  test.each([
    ['REVIEW.md', 'If it fails, go on with REVIEW.md.'],
    ['REVIEW.md', 'Then go to REVIEW.'],
    ['REVIEW.md', 'Stop here; REVIEW comes next.'],
    ['REVIEW.md', 'REVIEW, if there is anything to look at.'],
    ['FIX_BUG.sh', 'If it is broken: FIX_BUG'],
    ['fix_bug.sh', 'If it is broken use fix_bug here.'],
    ['fixBug.md', 'If it is broken use fixBug here.'],
    ['v2.md', 'Else take v2.'],
    ['B.md', 'Say `B` in the end.'],
    ['B.md', 'Say "B" in the end.'],
    ['B.md', 'Choose **B** if you are in doubt.'],
    ['B.md', 'If so, go to B.'],
    ['B.md', 'If so, goto B.'],
    ['B.md', 'If so, go\nto B.'],
    ['B.md', 'If so, go to\nB.'],
    ['B.md', 'Stop; B\ncomes next.'],
    ['B.md', 'Else continue with B.'],
    ['B.md', 'Go to A or B.'],
    ['B.md', 'Go on to `A`, B or C, as you like.'],
    ['B.md', 'Name one of the states A, B and C.'],
    ['B.md', 'If so, answer with B.'],
    ['B.md', 'Stop; B comes next.'],
    ['B.md', 'Stop; B is next.'],
    ['B.md', 'The next state is: state B.'],
    ['B.md', 'If the tests fail → B'],
    ['B.md', 'Answer <goto>B</goto> then.'],
    ['B.md', 'Answer <goto> B </goto> then.'],
    ['B.md', 'Answer <call return="B">C</call> then.'],
    ['B.md', 'One of these:\n- A: when the tests pass\n- B: when they fail'],
    ['B.md', 'One of these:\nA\nB\n'],
    ['review.md', 'Then go to the review state.'],
    ['review.md', 'Then go to review.'],
    ['review.md', 'One of these:\n* review – when there is something to see'],
    ['review.md', 'The next step is review.'],
    ['review.md', 'If there is nothing to build: review.'],
    ['write-tests.md', 'When the plan holds, write-tests is to be done.'],
    ['B.md', 'If the tests pass A, else B.'],
    ['B.md', 'Say one of A, B and C.'],
    ['B.md', '| state | when |\n|---|---|\n| B | the tests fail |'],
    ['Plan.md', 'Continue with Plan if nothing is known yet.'],
    ['B.md', 'Wenn das nicht geht, weiter mit B. Sonst <goto>A.md</goto>, und nicht B.'],
    ['審査.md', '終わったら審査に進む。'],
    ['1.md', 'Go to 1 then.'],
  ])('%s in: %s', (file, prompt) => {
    expect(detectStateMentions(prompt)(file)).toBe(true);
  });
});

describe('a prompt does not speak of a state', () => {
  test.each([
    ['B.md', 'There is a plan B as well, <goto>A.md</goto>.'],
    ['B.md', 'Use plan B, else <goto>A.md</goto>.'],
    ['B.md', 'See appendix B of the manual.'],
    ['A.md', 'A plan is needed first.'],
    ['A.md', 'A state is a file of its own. A step is what one does in it.'],
    ['I.md', 'I want you to look at the code.'],
    ['REVIEW.md', 'Then review the code.'],
    ['REVIEW.md', 'Review the code.'],
    ['REVIEW.md', 'Then go to Review.'],
    ['Review.md', 'Review the code, then answer.'],
    ['review.md', 'Proceed to review the code.'],
    ['review.md', 'The review has to be short.'],
    ['review.md', 'Write a pre_review first.'],
    ['B.md', 'These are the steps:\n\nB is a letter.'],
    ['test.md', 'Build it, then test.'],
    ['B.md', 'Choose between plan A and plan B.'],
    ['review.md', 'Do better in the next review, and then answer.'],
    ['plan.md', 'Write the plan, then stop.'],
    ['1.md', 'Do at least 1 of these.'],
    ['END.md', 'SEND it, or the ENDING.'],
  ])('%s in: %s', (file, prompt) => {
    expect(detectStateMentions(prompt)(file)).toBe(false);
  });
});
