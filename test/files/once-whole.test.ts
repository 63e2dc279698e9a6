// What is heard of a file that is still arriving: told once the upload is whole, and never as a rejection that nothing waits for.
import { expect, it } from 'vitest';
import { onceWhole, type Upload } from '../../src/files/upload.ts';

const said = (text: string) => [{ text, start: 0, end: 1 }, {} as never] as const;

function arriving(tell: (text: string) => void) {
  let resolve: (upload: Upload) => void = () => {};
  const whole = new Promise<Upload>((given) => {
    resolve = given;
  });
  const upload = { file: { size: undefined }, whole } as unknown as Upload;
  return { hear: onceWhole(upload, ({ text }) => tell(text)), upload, resolve };
}

it('keeps utterances until the upload is whole, and leaves out those of an upload with other fields', async () => {
  const told: string[] = [];
  const [same, other] = [arriving((text) => told.push(text)), arriving((text) => told.push(text))];
  for (const { hear } of [same, other]) hear(...said('early'));
  expect(told).toEqual([]);
  same.resolve(same.upload);
  other.resolve({} as Upload);
  await same.upload.whole;
  same.hear(...said('late'));
  other.hear(...said('never'));
  expect(told).toEqual(['early', 'late']);
});

it('fails the work on the file, and nothing else, where an utterance that was kept cannot be sent', async () => {
  const { hear, upload, resolve } = arriving(() => {
    throw new Error('It could not be told.');
  });
  hear(...said('early'));
  resolve(upload);
  await upload.whole;
  expect(() => hear(...said('late'))).toThrow('It could not be told.');
});
