// What hears in place of a provider's models: a script, numbered audio, or an engine of this process.
import type { Clock } from '../../../machines/clock.ts';
import type { Engine } from '../kit/provider.ts';
import type { EarMessage, EarRequest } from '../kit/simulation.ts';
import type { NumberedOptions, ScriptOptions } from '../loopback/options.ts';
import { LoopbackEngine } from '../loopback/simulator.ts';
import { EngineEar, type QueuedEar } from './engine-ear.ts';

/** Opens one ear; `onRoom` is called when its `queuedBytes` have fallen low again. */
export type OpenEar = (request: EarRequest, listener: (message: EarMessage) => void, onRoom?: () => void) => QueuedEar;

/** Given a clock it opens any number of ears. */
export type EarSource = (clock: Clock) => OpenEar;

/** Hertz that the embedded recogniser hears. */
const ENGINE_RATE = 16_000;

/** Says scripted turns by the position of the audio, whatever is in it. A scripted turn without words is a `no_match`. */
export function scriptEar(params: ScriptOptions = {}): EarSource {
  return (clock) => loopbackEars(clock, 'script', params);
}

/** Says which samples it heard of numbered audio (sample i is the low 16 bits of i), as "17-32017". */
export function numberedEar(params: { turnSeconds?: number; interimSeconds?: number } = {}): EarSource {
  const { turnSeconds, interimSeconds } = params;
  const options: NumberedOptions = {
    ...(turnSeconds === undefined ? {} : { turn_seconds: turnSeconds }),
    ...(interimSeconds === undefined ? {} : { interim_seconds: interimSeconds }),
  };
  return (clock) => {
    const open = loopbackEars(clock, 'numbered', options);
    return (request, listener, onRoom) =>
      open(request, (message) => listener(placed(message, request.sampleRate)), onRoom);
  };
}

/** Each range of a turn is a word, as long as its samples. */
function placed(message: EarMessage, rate: number): EarMessage {
  if ((message.type !== 'interim' && message.type !== 'final') || message.text === '') return message;
  let at = message.start;
  const words = message.text.split(' ').map((word) => {
    const [from = 0, to = 0] = word.startsWith('s') ? [0, Number(word.slice(1))] : word.split('-').map(Number);
    const start = at;
    at = Math.min(message.end, at + (to - from) / rate);
    return { word, start, end: at };
  });
  return { ...message, words };
}

function loopbackEars(clock: Clock, model: string, params: ScriptOptions | NumberedOptions): OpenEar {
  const engine = new LoopbackEngine(clock);
  return ({ sampleRate }, listener, onRoom = () => {}) => {
    const ear = new EngineEar({ engine, query: {}, rates: { from: sampleRate, to: sampleRate }, listener, onRoom });
    ear.send({ type: 'start', model, sampleRate, interims: true, params });
    return ear;
  };
}

/** Hears with an engine that takes 16 kHz and speaks as the embedded recogniser does. Other rates are converted. */
export function engineEar(engine: Engine, query: (request: EarRequest) => Record<string, unknown>): EarSource {
  return () =>
    (request, listener, onRoom = () => {}) =>
      new EngineEar({
        engine,
        query: query(request),
        rates: { from: request.sampleRate, to: ENGINE_RATE },
        listener,
        onRoom,
      });
}
