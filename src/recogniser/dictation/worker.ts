// The process that runs a speech model: any number of streams, whose audio is taken at once and decoded by turns. It is a process and
// not a thread, because native code that fails ends all of it. Its first argument is its `WorkerSettings`.
import { kindInfo, type SpeechModel } from '../../vendors/local/own-model.ts';
import type { DictationQuery, StreamMessage, WorkerReply, WorkerRequest } from '../protocol.ts';
import { COMMAND_BYTES } from '../protocol.ts';
import { beginModelProcess } from '../workers/model-process.ts';
import { DecodeQueue } from './decode-queue.ts';
import { configOf, type WorkerSettings } from './model.ts';
import { OfflineDecoder } from './offline-decoder.ts';
import { OnlineDictationStream } from './online-stream.ts';
import { loadSherpa } from './sherpa.ts';
import { DictationStream, type DictationStreamOptions } from './stream.ts';
import { type VoiceDetector, VoiceDetectors } from './voice-detector.ts';

interface Entry {
  stream: Pick<DictationStream, 'audio' | 'finalize' | 'finish' | 'abandon'>;
  detector: VoiceDetector;
}

/** Sockets go before decoding. */
const NICENESS = 5;

const settings = JSON.parse(process.argv[2] ?? '') as WorkerSettings;
beginModelProcess(NICENESS);

const sherpa = loadSherpa();
const openStream = streamsOf(settings.model);
const detectors = new VoiceDetectors(sherpa, settings.voiceModel);
const queue = new DecodeQueue(settings.slots);
const entries = new Map<number, Entry>();

process.on('message', (request: WorkerRequest) => {
  const sinceMs = performance.now();
  const ms = () => performance.now() - sinceMs;
  switch (request.type) {
    case 'open':
      open(request.stream, request.query as DictationQuery, request.organisation);
      reply({ type: 'opened', stream: request.stream, ms: ms() });
      return;
    case 'audio': {
      const { stream, bytes } = request;
      entries.get(stream)?.stream.audio(bytes);
      reply({ type: 'worked', stream, bytes: bytes.byteLength, ms: ms() });
      return;
    }
    case 'command': {
      const { stream } = request;
      if (request.command.type === 'finalize') entries.get(stream)?.stream.finalize();
      else entries.get(stream)?.stream.finish(() => end(stream));
      reply({ type: 'worked', stream, bytes: COMMAND_BYTES, ms: ms() });
      return;
    }
    case 'drop':
      drop(request.stream);
      return;
    case 'check':
      reply({ type: 'checked', check: request.check, fault: undefined, ms: ms() });
  }
});

function open(id: number, query: DictationQuery, organisation: string | undefined): void {
  const detector = detectors.take();
  const say = (message: StreamMessage): void => reply({ type: 'said', stream: id, message });
  const stream = openStream({
    detector,
    queue,
    organisation,
    sampleRate: query.sampleRate,
    endpointingMs: query.task.endpointingMs,
    interims: query.interims,
    say,
    onHeld: (held) => reply({ type: 'held', stream: id, held }),
    nowMs: () => performance.now(),
  });
  entries.set(id, { stream, detector });
  say({ type: 'ready' });
}

/** Opens the model. What it returns opens a stream of it. */
function streamsOf(model: SpeechModel): (options: Omit<DictationStreamOptions, 'decoder'>) => Entry['stream'] {
  if (kindInfo(model.kind).mode === 'online') {
    const recognizer = new sherpa.OnlineRecognizer(configOf(model));
    return (options) => new OnlineDictationStream({ ...options, recognizer });
  }
  const decoder = new OfflineDecoder(new sherpa.OfflineRecognizer(configOf(model)), () => process.exit(1));
  return (options) => new DictationStream({ ...options, decoder });
}

function end(id: number): void {
  drop(id);
  reply({ type: 'ended', stream: id, memoryBytes: process.resourceUsage().maxRSS * 1024 });
}

function drop(id: number): void {
  const entry = entries.get(id);
  if (entry === undefined) return;
  entries.delete(id);
  entry.stream.abandon();
  detectors.giveBack(entry.detector);
}

function reply(message: WorkerReply): void {
  process.send?.(message);
}
