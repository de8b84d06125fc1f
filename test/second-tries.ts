import type { Reporter, TestModule } from 'vitest/node';

/** Names, after all tests, those that passed only at their second try: each is a fault of the test or of Raymond. */
export class SecondTries implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const flaky = tests.filter((test) => test.diagnostic()?.flaky);
    if (flaky.length === 0) return;
    console.log('\nPassed only at the second try, to be mended:');
    for (const test of flaky) {
      const { errors } = test.result();
      console.log(`  ${test.module.relativeModuleId} > ${test.fullName}: ${errors?.[0]?.message.split('\n')[0] ?? ''}`);
    }
  }
}
