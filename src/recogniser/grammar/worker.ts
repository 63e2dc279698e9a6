// A thread of the recogniser: runs any number of streams, one request at a time, and says what they say.
// Which streams come here, and what becomes of them when the thread fails, is decided in pool.ts.
import { parentPort } from 'node:worker_threads';
import {
  COMMAND_BYTES,
  type GrammarQuery,
  paramOf,
  type QueryFault,
  type StreamCommand,
  type StreamErrorCode,
  type StreamMessage,
  type WorkerReply,
  type WorkerRequest,
} from '../protocol.ts';
import { Decoders, type TurnDecoder } from './decoders.ts';
import { loadModule } from './soundswallower.ts';
import { RecogniserStream } from './stream.ts';
import { type CompiledTask, TaskCompiler } from './task-compiler.ts';
import { TurnDetector } from './turn-detector.ts';

/** A stream and its decoder, once it has them; until then, what came for it. */
interface Entry {
  running: { stream: RecogniserStream; decoder: TurnDecoder } | undefined;
  early: (() => void)[];
}

const port = parentPort as NonNullable<typeof parentPort>;
const compiler = new TaskCompiler();
const module = await loadModule();
const decoders = new Decoders(module);
const entries = new Map<number, Entry>();

port.on('message', (request: WorkerRequest) => {
  switch (request.type) {
    case 'open':
      void open(request.stream, request.query as GrammarQuery);
      return;
    case 'audio':
      work(request.stream, request.bytes.byteLength, (stream) => {
        stream.audio(request.bytes);
        return undefined;
      });
      return;
    case 'command':
      work(request.stream, COMMAND_BYTES, (stream) => obey(stream, request.command));
      return;
    case 'drop':
      drop(request.stream);
      return;
    case 'check':
      void check(request.check, request.query as GrammarQuery);
  }
});

async function open(id: number, query: GrammarQuery): Promise<void> {
  const entry: Entry = { running: undefined, early: [] };
  entries.set(id, entry);
  const sinceMs = performance.now();
  const prepared = await prepare(query);
  reply({ type: 'opened', stream: id, ms: performance.now() - sinceMs });
  if ('fault' in prepared) {
    const code = query.task.kind === 'grammar' ? 'invalid_grammar' : 'invalid_align_text';
    fail(id, code, `The \`${prepared.fault.param}\` is refused. ${prepared.fault.message}`);
  } else if (entries.get(id) !== entry) {
    // Dropped meanwhile.
    decoders.giveBack(prepared.decoder);
  } else {
    const { decoder, task } = prepared;
    const alignText = task.search.kind === 'align' ? task.search.text : undefined;
    const settings = { interims: query.interims, alignText, language: task.model };
    const say = (message: StreamMessage): void => reply({ type: 'said', stream: id, message });
    entry.running = { decoder, stream: new RecogniserStream(decoder, new TurnDetector(module), settings, say) };
    say({ type: 'ready' });
  }
  for (const each of entry.early.splice(0)) each();
}

/** Works on a stream now, or as soon as it runs. What the request took of the queue is given back in any case. */
function work(id: number, bytes: number, task: (stream: RecogniserStream) => 'ended' | undefined): void {
  const entry = entries.get(id);
  if (entry !== undefined && entry.running === undefined) {
    entry.early.push(() => work(id, bytes, task));
    return;
  }
  let outcome: 'ended' | 'failed' | undefined;
  const sinceMs = performance.now();
  try {
    if (entry?.running !== undefined) outcome = task(entry.running.stream);
  } catch (error) {
    rethrowTrap(error);
    outcome = 'failed';
  }
  reply({ type: 'worked', stream: id, bytes, ms: performance.now() - sinceMs });
  if (outcome === 'ended') {
    drop(id);
    reply({ type: 'ended', stream: id });
    // The decoder is in an unknown state: it is not given back.
  } else if (outcome === 'failed') fail(id, 'recogniser_failed', 'The recogniser failed at this audio.');
}

function obey(stream: RecogniserStream, { type }: StreamCommand): 'ended' | undefined {
  if (type === 'finalize') {
    stream.finalize();
    return undefined;
  }
  stream.finish();
  return 'ended';
}

function drop(id: number): void {
  const running = entries.get(id)?.running;
  entries.delete(id);
  if (running === undefined) return;
  running.stream.abandon();
  decoders.giveBack(running.decoder);
}

function fail(id: number, code: StreamErrorCode, message: string): void {
  entries.delete(id);
  reply({ type: 'said', stream: id, message: { type: 'error', code, message } });
  reply({ type: 'ended', stream: id });
}

async function check(id: number, query: GrammarQuery): Promise<void> {
  const sinceMs = performance.now();
  const prepared = await prepare(query);
  if ('decoder' in prepared) decoders.giveBack(prepared.decoder);
  const fault = 'fault' in prepared ? prepared.fault : undefined;
  reply({ type: 'checked', check: id, fault, ms: performance.now() - sinceMs });
}

/** Compiles a task and gives it to a decoder, which is where the last faults of a grammar show. */
async function prepare(
  query: GrammarQuery,
): Promise<{ decoder: TurnDecoder; task: CompiledTask } | { fault: QueryFault }> {
  const task = await compiler.compile(query);
  if ('param' in task) return { fault: task };
  try {
    const decoder = await decoders.take(task);
    return { decoder, task };
  } catch (error) {
    rethrowTrap(error);
    return { fault: { param: paramOf(query.task), message: 'The decoder does not take it. Simplify it.' } };
  }
}

/** After a trap the module's memory is in an unknown state: the thread must go. */
function rethrowTrap(error: unknown): void {
  // WebAssembly's own error, a stack that ran over, or the C code's exit, which is no Error.
  const isMendable = error instanceof Error && error.name !== 'RuntimeError' && !(error instanceof RangeError);
  if (!isMendable) throw error;
}

function reply(message: WorkerReply): void {
  port.postMessage(message);
}
