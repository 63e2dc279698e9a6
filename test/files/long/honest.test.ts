// Files that people send, of every container: none is cut where it fits, whether its length is known or not.
import { expect, it } from 'vitest';
import { honestFiles } from '../../audio/length/honest/made.ts';
import { measured } from '../../fakes/audio/measured.ts';
import { answer } from '../../live/upstream/http-batch-fixture.ts';
import { kept, longRig } from './long-rig.ts';

it('files of a hundred kinds go to a model as they are, as long as it takes them', async () => {
  const { run, servers, files } = await longRig({
    scripted: { one: { audio: { max_file_bytes: 25_000_000, max_seconds: 20 } } },
  });
  servers.one.answers = [answer({ words: [{ word: 'a', start: 0.1, end: 0.2 }], seconds: 2 })];
  const honest = honestFiles();
  expect(honest.length).toBeGreaterThan(100);
  for (const { name, bytes } of honest) {
    servers.one.arrived.length = 0;
    const { seconds } = measured(bytes) ?? {};
    const length = seconds === undefined ? undefined : { seconds, secondsMax: seconds, channels: 1 };
    for (const file of [kept(bytes), { ...kept(bytes), ...(length && { seconds: length.seconds }) }]) {
      const { warnings } = await run({ ...file, measure: async () => length }, 'one/file');
      expect([name, warnings.filter(({ code }) => code === 'file_cut')]).toEqual([name, []]);
    }
    expect([name, servers.one.arrived.map(({ body }) => body.equals(bytes))]).toEqual([name, [true, true]]);
  }
  expect(files.most).toBe(0);
});
