// The process of a model over streams and a channel of the test's own: an error of one stream ends that stream, and no other.
import { expect, test } from 'vitest';
import type { StreamQuery, WorkerReply, WorkerRequest } from '../../../src/recogniser/protocol.ts';
import { type ModelStream, type StreamCalls, serveStreams } from '../../../src/recogniser/workers/model-process.ts';

const query: StreamQuery = { task: { kind: 'voice' } };
const broken = (): never => {
  throw new Error('The library failed.');
};
const sound: ModelStream = { audio: () => {}, finalize: () => {}, finish: (done) => done(), abandon: () => {} };

/** Serves streams, opened in this order. */
function serving(...streams: (ModelStream | (() => never))[]) {
  const replies: WorkerReply[] = [];
  const calls: StreamCalls[] = [];
  let request: (request: WorkerRequest) => void = () => {};
  serveStreams(
    (_query, _organisation, given) => {
      calls.push(given);
      const stream = streams[calls.length - 1] ?? sound;
      return typeof stream === 'function' ? stream() : stream;
    },
    {
      on: (_event, listener) => {
        request = listener;
      },
      send: (reply: WorkerReply) => replies.push(reply),
    },
  );
  const open = (stream: number) => request({ type: 'open', stream, query, organisation: undefined });
  const of = (stream: number) =>
    replies.flatMap((reply) => ('stream' in reply && reply.stream === stream ? [reply.type] : []));
  return { open, request: (each: WorkerRequest) => request(each), of, replies, calls };
}

const FAILED = { type: 'failed', stream: 1, message: 'The library failed.' };
const audio = (stream: number): WorkerRequest => ({ type: 'audio', stream, bytes: new Uint8Array(64) });
const command = (stream: number, type: 'finalize' | 'finish'): WorkerRequest => ({
  type: 'command',
  stream,
  command: { type },
});

test.each<[string, Partial<ModelStream>, WorkerRequest]>([
  ['audio', { audio: broken }, audio(1)],
  ['a finalize', { finalize: broken }, command(1, 'finalize')],
  ['a finish', { finish: broken }, command(1, 'finish')],
])('a stream that fails at %s ends alone, and its request is answered', (_, fault, request) => {
  const { open, request: send, of, replies } = serving({ ...sound, ...fault });
  open(1);
  open(2);
  send(request);
  send(audio(2));
  send(command(2, 'finish'));
  expect(replies).toContainEqual(FAILED);
  expect(of(1)).toEqual(['said', 'opened', 'failed', 'worked']);
  expect(of(2)).toEqual(['said', 'opened', 'worked', 'ended', 'worked']);
  send(audio(1));
  expect(of(1).slice(4)).toEqual(['worked']);
});

test('a stream that cannot be opened fails, and the next is opened', () => {
  const { open, of, replies } = serving(broken);
  open(1);
  open(2);
  expect(replies).toContainEqual(FAILED);
  expect([of(1), of(2)]).toEqual([
    ['failed', 'opened'],
    ['said', 'opened'],
  ]);
});

test('a stream that fails later, such as during a decode, fails once and gives back what it holds', () => {
  let abandoned = 0;
  const { open, of, calls } = serving({
    ...sound,
    abandon: () => {
      abandoned++;
    },
  });
  open(1);
  calls[0]?.fail(new Error('The library failed.'));
  calls[0]?.fail(new Error('The library failed again.'));
  expect([of(1), abandoned]).toEqual([['said', 'opened', 'failed'], 1]);
});

test('a stream that cannot give back what it holds is forgotten, whether it ends, fails or is dropped', () => {
  const stuck = { ...sound, abandon: broken };
  const { open, request, of, calls } = serving(stuck, stuck, stuck);
  for (const stream of [1, 2, 3]) open(stream);
  request(command(1, 'finish'));
  calls[1]?.fail('The library failed.');
  request({ type: 'drop', stream: 3 });
  for (const stream of [1, 2, 3]) request(audio(stream));
  expect(of(1)).toEqual(['said', 'opened', 'ended', 'failed', 'worked', 'worked']);
  expect(of(2)).toEqual(['said', 'opened', 'failed', 'worked']);
  expect(of(3)).toEqual(['said', 'opened', 'failed', 'worked']);
});
