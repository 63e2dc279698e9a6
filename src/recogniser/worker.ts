// A thread of the recogniser: runs any number of streams, one block of audio at a time, and says what they say.
// Which streams come here, and what their connections are told when the thread fails, is decided in pool.ts.
import { parentPort } from 'node:worker_threads';
import { Decoders, type TurnDecoder } from './decoders.ts';
import type {
  Language,
  QueryFault,
  StreamCommand,
  StreamErrorCode,
  StreamQuery,
  WorkerReply,
  WorkerRequest,
} from './protocol.ts';
import { loadModule, modelDirectory } from './soundswallower.ts';
import { RecogniserStream } from './stream.ts';
import { TaskCompiler } from './task-compiler.ts';
import { TurnDetector } from './turn-detector.ts';

const MODEL_NAMES: Record<Language, string> = { en: 'en-us', fr: 'fr-fr' };

const port = parentPort as NonNullable<typeof parentPort>;
const compiler = new TaskCompiler((language) => `${modelDirectory()}${MODEL_NAMES[language]}`);
const module = await loadModule();
const decoders = new Decoders(module);

/** A stream and what came for it while its decoder was being made. */
interface Entry {
  stream: RecogniserStream | undefined;
  decoder: TurnDecoder | undefined;
  early: (() => void)[];
  dropped: boolean;
}

const entries = new Map<number, Entry>();

port.on('message', (request: WorkerRequest) => {
  switch (request.type) {
    case 'open':
      void open(request.stream, request.query);
      return;
    case 'audio':
      whenOpen(request.stream, (stream) => {
        stream.audio(request.bytes);
        reply({ type: 'worked', stream: request.stream, bytes: request.bytes.byteLength });
      });
      return;
    case 'command':
      whenOpen(request.stream, (stream) => command(request.stream, stream, request.command));
      return;
    case 'drop':
      drop(request.stream);
      return;
    case 'check':
      void check(request.check, request.query);
  }
});

async function open(id: number, query: StreamQuery): Promise<void> {
  const entry: Entry = { stream: undefined, decoder: undefined, early: [], dropped: false };
  entries.set(id, entry);
  try {
    const task = await compiler.compile(query);
    if ('param' in task) {
      refuse(id, query.task.kind === 'align' ? 'invalid_align_text' : 'invalid_grammar', task.message);
      return;
    }
    const decoder = await decoders.take(task);
    if (entry.dropped) {
      decoders.giveBack(decoder);
      return;
    }
    const alignText = task.kind === 'align' ? task.text : undefined;
    entry.decoder = decoder;
    entry.stream = new RecogniserStream(
      decoder,
      new TurnDetector(module),
      { interims: query.interims, alignText },
      (message) => reply({ type: 'said', stream: id, message }),
    );
  } catch (error) {
    if (isTrap(error)) throw error;
    refuse(id, 'invalid_grammar', 'The recogniser does not take this task. Simplify the grammar or the text.');
    return;
  }
  reply({ type: 'said', stream: id, message: { type: 'ready' } });
  for (const work of entry.early.splice(0)) work();
}

function whenOpen(id: number, work: (stream: RecogniserStream) => void): void {
  const entry = entries.get(id);
  if (entry === undefined) return;
  const { stream } = entry;
  if (stream !== undefined) work(stream);
  else entry.early.push(() => entry.stream !== undefined && work(entry.stream));
}

function command(id: number, stream: RecogniserStream, { type }: StreamCommand): void {
  if (type === 'finalize') {
    stream.finalize();
    return;
  }
  stream.finish();
  reply({ type: 'ended', stream: id });
  drop(id);
}

function drop(id: number): void {
  const entry = entries.get(id);
  if (entry === undefined) return;
  entries.delete(id);
  entry.dropped = true;
  if (entry.decoder === undefined) return;
  // A turn may be under way; the decoder is given back whole.
  entry.stream?.finalize();
  decoders.giveBack(entry.decoder);
}

function refuse(id: number, code: StreamErrorCode, message: string): void {
  entries.delete(id);
  reply({ type: 'said', stream: id, message: { type: 'error', code, message } });
  reply({ type: 'ended', stream: id });
}

/** Compiles the task and gives it to a decoder, which is where the last faults of a grammar show. */
async function check(id: number, query: StreamQuery): Promise<void> {
  reply({ type: 'checked', check: id, fault: await faultOf(query) });
}

async function faultOf(query: StreamQuery): Promise<QueryFault | undefined> {
  const task = await compiler.compile(query);
  if ('param' in task) return task;
  try {
    decoders.giveBack(await decoders.take(task));
    return undefined;
  } catch (error) {
    if (isTrap(error)) throw error;
    const param = query.task.kind === 'grammar' ? 'grammar' : 'align_text';
    return { param, message: `\`${param}\` is refused by the recogniser. Simplify it.` };
  }
}

/** After a trap the module's memory is in an unknown state: the thread must go. */
function isTrap(error: unknown): boolean {
  return error instanceof Error && (error.name === 'RuntimeError' || error instanceof RangeError);
}

function reply(message: WorkerReply): void {
  port.postMessage(message);
}
