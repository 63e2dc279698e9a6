// OpenAI's official SDK, unmodified, against the simulated whisper.cpp, as where it is started at OpenAI's path.
import { simulator } from '../../../../src/vendors/whispercpp/simulator/index.ts';
import { testOpenaiFiles } from './openai-files.ts';

testOpenaiFiles({
  simulator,
  model: 'whatever',
  words: true,
  refused: [[{ temperature: 'abc' }, 500]],
  unreadable: 400,
});
