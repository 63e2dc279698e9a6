// What hears for the simulators: the same whatever the rate and the cut, nothing inside a call, nothing after the end; and
// whole files through it.
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { wavHeader } from '../../../../src/audio/containers/wav.ts';
import type { Engine, EngineConnection, EngineListener, Outgoing } from '../../../../src/vendors/kit/provider.ts';
import { engineEar, numberedEar, scriptEar } from '../../../../src/vendors/simulation/ears.ts';
import { transcribe } from '../../../../src/vendors/simulation/stage.ts';
import { numberedAudio } from '../../../fakes/audio/numbered-audio.ts';

const RATE = 8_000;

/** Counts the audio it is given. */
class CountingEngine implements Engine {
  query: unknown;
  /** Taken, and not worked on. */
  bytes = 0;
  isOpen = false;
  listener: EngineListener | undefined;

  connect(query: Readonly<Record<string, unknown>>, listener: EngineListener): EngineConnection {
    this.query = query;
    this.listener = listener;
    this.isOpen = true;
    const count = () => this.bytes;
    return {
      send: (frame: Outgoing) => {
        if (frame instanceof Uint8Array) this.bytes += frame.length;
        else queueMicrotask(() => listener.message({ type: 'finished' }));
      },
      get bufferedBytes() {
        return count();
      },
      close: () => {},
      terminate: () => {
        this.isOpen = false;
      },
    };
  }

  /** Works off what waits, and says how much that was. */
  work(): number {
    const { bytes } = this;
    this.bytes = 0;
    this.listener?.drained();
    return bytes;
  }
}

/** A WAV file of 16 kHz. */
const wavOf = (samples: Int16Array): Uint8Array =>
  Buffer.concat([wavHeader(16_000, samples.byteLength), new Uint8Array(samples.buffer)]);

describe('an ear', () => {
  const settle = () => new Promise((resolve) => setImmediate(resolve));

  it('gives a 16 kHz engine audio of any rate and split, converted, with the request’s query', async () => {
    for (const sampleRate of [8_000, 16_000, 24_000]) {
      const engine = new CountingEngine();
      const open = engineEar(engine, ({ language }) => ({ language }))(new SimulatedClock());
      const said: string[] = [];
      const ear = open({ sampleRate, language: 'en' }, ({ type }) => said.push(type));
      const bytes = new Uint8Array(2 * 2 * sampleRate);
      for (let at = 0; at < bytes.length; at += 777) ear.audio(bytes.subarray(at, at + 777));
      expect(ear.queuedBytes).toBe(engine.bytes);
      ear.finish();
      await settle();
      ear.close();
      expect([said, engine.query, engine.bytes, engine.isOpen]).toEqual([
        ['finished'],
        { language: 'en' },
        64_000,
        false,
      ]);
    }
  });

  it('takes a file as fast as it makes room, and at most 64 MiB of it', async () => {
    const engine = new CountingEngine();
    const open = engineEar(engine, () => ({}))(new SimulatedClock());
    const file = wavOf(new Int16Array(2 * 1024 * 1024));
    const done = transcribe(open, file, undefined);
    let takenBytes = 0;
    while (engine.isOpen) {
      expect(engine.bytes).toBeLessThanOrEqual(1024 * 1024 + 65_536);
      takenBytes += engine.work();
      await settle();
    }
    expect([takenBytes + engine.bytes, await done]).toEqual([4 * 1024 * 1024, { seconds: 131.072, turns: [] }]);
    await expect(transcribe(open, { byteLength: 2 * 1024 ** 3 + 1 } as Uint8Array, undefined)).rejects.toThrow(
      'larger than',
    );
  });

  it('fails the transcription when it fails in a file', async () => {
    const open = scriptEar({ fail: { how: 'error', at_seconds: 0.1 } })(new SimulatedClock());
    await expect(transcribe(open, wavOf(new Int16Array(16_000)), undefined)).rejects.toThrow('The ear failed: next.');
  });

  it.each([1, 3, 777, 64_000])('transcribes the same samples in pieces of %d bytes', async (pieceBytes) => {
    const said: unknown[] = [];
    const open = numberedEar({ turnSeconds: 1 })(new SimulatedClock());
    const ear = open({ sampleRate: RATE, language: undefined }, (message) => {
      if (message.type === 'final') said.push(message.text);
    });
    const audio = numberedAudio(0, 12_000);
    for (let at = 0; at < audio.length; at += pieceBytes) ear.audio(audio.subarray(at, at + pieceBytes));
    expect(said).toEqual([]);
    ear.finish();
    await settle();
    expect(said).toEqual(['0-8000', '8000-12000']);
  });

  it('reports a turn without words as no match, a failure once, and nothing after its close', async () => {
    const clock = new SimulatedClock();
    const hear = async (params: Parameters<typeof scriptEar>[0], closes = false) => {
      const said: string[] = [];
      const ear = scriptEar(params)(clock)({ sampleRate: RATE, language: undefined }, ({ type, ...rest }) =>
        said.push('code' in rest ? `${type} ${rest.code}` : type),
      );
      ear.audio(new Uint8Array(2 * RATE));
      if (closes) ear.close();
      ear.finalize();
      ear.finish();
      await settle();
      return said;
    };
    expect(await hear({ turns: [{ text: '', seconds: 1 }] })).toEqual([
      'ready',
      'speech_started',
      'no_match',
      'finished',
    ]);
    expect(await hear({ fail: { how: 'close', at_seconds: 1 } })).toEqual([
      'ready',
      'speech_started',
      'error closed_1011',
    ]);
    expect(await hear({}, true)).toEqual([]);
  });
});
