// The process that runs a speech model: any number of streams, whose audio is taken at once and decoded by turns. It is a process and
// not a thread, because native code that fails ends all of it. Its first argument is its `WorkerSettings`.
import { kindInfo, type SpeechModel } from '../../vendors/local/own-model.ts';
import type { DictationQuery } from '../protocol.ts';
import { beginModelProcess, type ModelStream, serveStreams } from '../workers/model-process.ts';
import { DecodeQueue } from './decode-queue.ts';
import { configOf, type WorkerSettings } from './model.ts';
import { OfflineDecoder } from './offline-decoder.ts';
import { OnlineDictationStream } from './online-stream.ts';
import { loadSherpa } from './sherpa.ts';
import { DictationStream, type DictationStreamOptions } from './stream.ts';
import { VoiceDetectors } from './voice-detector.ts';

/** Sockets go before decoding. */
const NICENESS = 5;

const settings = JSON.parse(process.argv[2] ?? '') as WorkerSettings;
beginModelProcess(NICENESS);

const sherpa = loadSherpa();
const openStream = streamsOf(settings.model);
const detectors = new VoiceDetectors(sherpa, settings.voiceModel);
const queue = new DecodeQueue(settings.slots);

serveStreams((query, organisation, { say, hold, fail }) => {
  const { task, sampleRate, interims } = query as DictationQuery;
  const detector = detectors.take();
  const stream = openStream({
    ...{ detector, queue, organisation, sampleRate, interims, say },
    endpointingMs: task.endpointingMs,
    onHeld: hold,
    onFailed: fail,
    nowMs: () => performance.now(),
  });
  return {
    audio: (bytes) => stream.audio(bytes),
    finalize: () => stream.finalize(),
    finish: (onFinished) => stream.finish(onFinished),
    abandon: () => {
      stream.abandon();
      detectors.giveBack(detector);
    },
  };
});

/** Opens the model. What it returns opens a stream of it. */
function streamsOf(model: SpeechModel): (options: Omit<DictationStreamOptions, 'decoder'>) => ModelStream {
  if (kindInfo(model.kind).mode === 'online') {
    const recognizer = new sherpa.OnlineRecognizer(configOf(model));
    return (options) => new OnlineDictationStream({ ...options, recognizer });
  }
  const decoder = new OfflineDecoder(new sherpa.OfflineRecognizer(configOf(model)), () => process.exit(1));
  return (options) => new DictationStream({ ...options, decoder });
}
