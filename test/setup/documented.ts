// Runs before the tests of every file: what gateways under test answer and send is compared with the documents that they serve.
// A test that hears something undocumented fails, with the words of documented-check.ts. Who listens is documented-answers.ts.
import { afterAll, afterEach } from 'vitest';
import { forgetGateways } from './documented-answers.ts';
import { failures } from './documented-notes.ts';

forgetGateways();

const failIfUndocumented = async () => {
  const problems = await failures();
  if (problems.length > 0) throw new Error(problems.join('\n\n'));
};
afterEach(failIfUndocumented);
afterAll(failIfUndocumented);
