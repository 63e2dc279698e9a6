// Programs of the documents that use OpenAI's client, word for word.
import { join } from 'node:path';
import { it } from 'vitest';
import { ROOT } from '../../../docs/pages.ts';
import { different, printing, programs, run, usesOpenai } from '../../../docs/programs.ts';
import { startLiveGateway } from '../../../fakes/processes/live-gateway.ts';
import { expectReading } from '../../../fakes/reading.ts';

const own = different(programs.filter(usesOpenai), ({ text }) => text);

it.each(own)('transcribes the sample with the program of $path', async ({ text }) => {
  const { url, key } = await startLiveGateway();
  const output = await run(printing(text, url, ROOT), join(ROOT, 'test/sdk'), key);
  expectReading(output);
});
