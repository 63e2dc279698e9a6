// The process that finds voices: any number of streams. It is a process and not a thread, because native code that fails ends all of
// it. Its first argument is the path of the model.

import { loadSherpa } from '../dictation/sherpa.ts';
import { type VoiceDetector, VoiceDetectors } from '../dictation/voice-detector.ts';
import { COMMAND_BYTES, type StreamMessage, type WorkerReply, type WorkerRequest } from '../protocol.ts';
import { beginModelProcess } from '../workers/model-process.ts';
import { VoiceStream } from './stream.ts';

/** Lower than for dictation, as a voice that is missed marks honest text: at 0.12 no short word was missed, at 0.1 a dial tone is a voice. */
const SETTINGS = { threshold: 0.12, bufferSeconds: 2 };
/** Sockets go before voices. */
const NICENESS = 3;

beginModelProcess(NICENESS);

const detectors = new VoiceDetectors(loadSherpa(), process.argv[2] ?? '', SETTINGS);
const entries = new Map<number, { stream: VoiceStream; detector: VoiceDetector }>();

process.on('message', (request: WorkerRequest) => {
  const sinceMs = performance.now();
  const ms = () => performance.now() - sinceMs;
  switch (request.type) {
    case 'open':
      open(request.stream);
      reply({ type: 'opened', stream: request.stream, ms: ms() });
      return;
    case 'audio': {
      const { stream, bytes } = request;
      entries.get(stream)?.stream.audio(bytes);
      reply({ type: 'worked', stream, bytes: bytes.byteLength, ms: ms() });
      return;
    }
    case 'command':
      entries.get(request.stream)?.stream.report();
      if (request.command.type === 'finish') finish(request.stream);
      reply({ type: 'worked', stream: request.stream, bytes: COMMAND_BYTES, ms: ms() });
      return;
    case 'drop':
      drop(request.stream);
      return;
    case 'check':
      reply({ type: 'checked', check: request.check, fault: undefined, ms: ms() });
  }
});

function open(id: number): void {
  const detector = detectors.take();
  const say = (message: StreamMessage): void => reply({ type: 'said', stream: id, message });
  entries.set(id, { stream: new VoiceStream(detector, say), detector });
  say({ type: 'ready' });
}

function finish(id: number): void {
  if (!entries.has(id)) return;
  reply({ type: 'said', stream: id, message: { type: 'finished' } });
  drop(id);
  reply({ type: 'ended', stream: id });
}

function drop(id: number): void {
  const entry = entries.get(id);
  if (entry === undefined) return;
  entries.delete(id);
  detectors.giveBack(entry.detector);
}

function reply(message: WorkerReply): void {
  process.send?.(message);
}
