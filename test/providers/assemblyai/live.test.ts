// The live codec of AssemblyAI apart from its turns: the URL, the messages that begin and end a session, and what it states of
// its timing.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frameSizes } from '../../../src/audio/coalescer.ts';
import { live } from '../../../src/providers/assemblyai/live.ts';
import { models } from '../../../src/providers/assemblyai/models.ts';
import type { LegRequest } from '../../../src/providers/provider.ts';
import { Codec, legRequest, turn, words } from './support.ts';

const send = (...types: string[]) => types.map((type) => ({ type: 'send', frame: { type } }));

describe('the URL of a session', () => {
  it('is the public one with the bare key, or below the one that is configured', () => {
    const codec = new Codec();
    expect(codec.url.href).toBe(
      'wss://streaming.assemblyai.com/v3/ws?speech_model=universal-streaming-english&sample_rate=16000&encoding=pcm_s16le',
    );
    expect(codec.headers).toEqual({ authorization: 'key-1' });
    const other = new Codec({
      sampleRate: 8_000,
      access: { baseUrl: 'http://127.0.0.1:9/aai/', credential: undefined },
    });
    expect(other.url.href).toContain('ws://127.0.0.1:9/aai/v3/ws?');
    expect([other.url.searchParams.get('sample_rate'), other.headers]).toEqual(['8000', {}]);
  });

  it.each<[Partial<LegRequest>, Record<string, string>]>([
    [{ diarization: true }, { speaker_labels: 'true' }],
    [{ params: { speaker_labels: true } }, { speaker_labels: 'true' }],
    [
      { diarization: true, params: { speaker_labels: false, max_speakers: 2 } },
      { speaker_labels: 'true', max_speakers: '2' },
    ],
    [{ params: { speaker_labels: false } }, {}],
    [{ language: 'en-GB' }, {}],
    [{ language: 'auto' }, {}],
    [{ model: 'universal-streaming-multilingual', language: 'auto' }, { language_detection: 'true' }],
    [{ model: 'universal-streaming-multilingual', language: 'fr' }, {}],
    [{ model: 'u3-rt-pro', language: 'auto' }, { language_detection: 'true' }],
    [{ model: 'u3-rt-pro', language: 'es-MX' }, {}],
    [{ model: 'whisper-rt', language: 'auto' }, { language_detection: 'true' }],
    [{ model: 'universal-3-5-pro', language: 'pt-BR' }, { language_codes: '["pt"]' }],
    [{ model: 'universal-3-5-pro', language: 'sw' }, {}],
    [
      { model: 'universal-3-5-pro', language: 'fr', params: { language_codes: ['en', 'es'] } },
      { language_codes: '["en","es"]' },
    ],
    [{ model: 'universal-3-5-pro', params: { language_detection: true } }, { language_detection: 'true' }],
    [
      { model: 'universal-3-5-pro', language: 'fr', params: { language_detection: true } },
      { language_codes: '["fr"]' },
    ],
    [
      { params: { format_turns: true, keyterms_prompt: ['a b', 'ü'] } },
      { format_turns: 'true', keyterms_prompt: '["a b","ü"]' },
    ],
    [{ params: { vad_threshold: 0, min_turn_silence: 0 } }, { vad_threshold: '0', min_turn_silence: '0' }],
    [{ model: 'universal-streaming-multilingual', params: { format_turns: true } }, {}],
    [{ model: 'u3-rt-pro', params: { format_turns: true, prompt: 'a&b' } }, { prompt: 'a&b' }],
    [{ params: { punctuate: true, unheard_of: 1, prompt: 'x', constructor: 1 } }, {}],
  ])('of %j asks for %j', (changes, expected) => {
    const { searchParams } = new Codec(changes).url;
    for (const name of ['speech_model', 'sample_rate', 'encoding']) searchParams.delete(name);
    expect(Object.fromEntries(searchParams)).toEqual(expected);
  });
});

describe('a session', () => {
  it('is ready with `Begin`', () => {
    expect(new Codec().hear({ type: 'Begin', id: 'session-1', expires_at: 1 })).toEqual([{ type: 'ready' }]);
  });

  it('is sent its audio as it is', () => {
    const frame = new Uint8Array(3_200);
    expect(live.audio(new Codec().state, frame)).toBe(frame);
  });

  it('tells when speech started, within the audio sent', () => {
    const codec = new Codec({ model: 'u3-rt-pro' }, 2);
    expect(
      codec.hear({ type: 'SpeechStarted', timestamp: 1_216 }, { type: 'SpeechStarted', timestamp: 9_000 }),
    ).toEqual([
      { type: 'speech.started', start: 1.216 },
      { type: 'speech.started', start: 2 },
    ]);
    expect(codec.hear({ type: 'SpeechStarted' }, { type: 'SpeechStarted', timestamp: -1 })).toEqual([]);
  });

  it('passes each kind of warning on once, and not without end', () => {
    const codec = new Codec();
    const warnings = Array.from({ length: 40 }, (_, index) => ({
      type: 'Warning',
      warning_code: index % 20,
      warning: 'Slow\ndown',
    }));
    const told = codec.hear(...warnings);
    expect(told).toHaveLength(16);
    expect(told[0]).toEqual({ type: 'warned', code: 'assemblyai_0', message: 'AssemblyAI: Slow down' });
    expect(new Codec().hear({ type: 'Warning', warning: 'x' }, { type: 'Warning' })).toMatchObject([
      { code: 'assemblyai_warning' },
    ]);
  });

  it.each(['Heartbeat', 'Silence', 'SpeakerRevision', 'LLMGatewayResponse', 'Nonsense'])(
    'makes nothing of %s',
    (type) => {
      expect(new Codec().hear({ type, revisions: [], start_ms: 0 })).toEqual([]);
    },
  );

  it('is flushed by `ForceEndpoint`, and ended by that and `Terminate`', () => {
    const { state } = new Codec();
    expect(live.finalize(state)).toEqual(send('ForceEndpoint'));
    expect(live.finish(state)).toEqual(send('ForceEndpoint', 'Terminate'));
  });

  it('is terminated also when it is let go of, and not twice', () => {
    const { state } = new Codec();
    expect(live.leave?.(state)).toEqual([{ type: 'Terminate' }]);
    live.finish(state);
    expect(live.leave?.(state)).toEqual([]);
  });

  it('is finished by `Termination` or a close in order, once it was asked to, whatever is still open', () => {
    const codec = new Codec();
    codec.hear(turn({ words: words(['book', 0, 100]) }));
    live.finish(codec.state);
    expect(codec.hear({ type: 'Termination', audio_duration_seconds: 1, session_duration_seconds: 2 })).toEqual([
      { type: 'finished' },
    ]);
    expect(codec.close(1000)).toEqual({ type: 'finished' });
  });

  it('has failed when it ends before', () => {
    expect(new Codec().hear({ type: 'Termination' })).toMatchObject([
      { type: 'failed', failure: { kind: 'retry', reason: 'upstream_closed', code: 'terminated' } },
    ]);
    expect(new Codec().close(1000)).toMatchObject({ type: 'failed', failure: { kind: 'retry', code: 'close_1000' } });
    const finishing = new Codec();
    live.finish(finishing.state);
    expect(finishing.close(1006)).toMatchObject({ type: 'failed', failure: { kind: 'retry', code: 'close_1006' } });
  });

  it('fails once: the close behind an `Error` says nothing of its own', () => {
    const codec = new Codec();
    live.finish(codec.state);
    const [failed] = codec.hear({
      type: 'Error',
      error_code: 1008,
      error: 'Unauthorized Connection: Too many concurrent sessions',
    });
    expect(failed).toMatchObject({ type: 'failed', failure: { kind: 'next', code: '1008' } });
    expect(codec.close(3005, 'Server error')).toEqual(failed);
    expect(codec.close(1000)).toEqual(failed);
  });

  it('reads anything, and throws at nothing', () => {
    const member = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, undefined, -1, 0, 1, true),
    );
    const garbled = fc.dictionary(
      fc.constantFrom(
        'turn_order',
        'end_of_turn',
        'turn_is_formatted',
        'transcript',
        'words',
        'speaker_label',
        'timestamp',
        'error',
        'error_code',
        'warning',
        'warning_code',
      ),
      member,
    );
    const typed = fc
      .tuple(fc.constantFrom('Begin', 'SpeechStarted', 'Turn', 'Warning', 'Error', 'Termination'), garbled)
      .map(([type, rest]) => ({ ...rest, type }));
    const model = fc.constantFrom(...models.map(({ id }) => id.slice('assemblyai/'.length)));
    fc.assert(
      fc.property(model, fc.array(fc.oneof(fc.anything(), typed), { maxLength: 8 }), (name, messages) => {
        const codec = new Codec({ model: name, params: { format_turns: true } });
        for (const step of codec.hear(...messages)) {
          if ('utterance' in step && step.utterance !== undefined) {
            expect(step.utterance.text).toBeTypeOf('string');
            expect(Number.isFinite(step.utterance.start + step.utterance.end)).toBe(true);
          }
          if (step.type === 'failed') expect(step.failure.code).toBeTypeOf('string');
        }
      }),
      { numRuns: 1_000 },
    );
    expect(live.read(new Codec().state, { bytes: new Uint8Array(3) })).toEqual([]);
  });
});

describe('its timing', () => {
  it('keeps within the frames and the pace that AssemblyAI accepts', () => {
    for (const { audio } of models) {
      for (const sampleRate of audio.sample_rates) {
        const { frame, speedMax, burstMs } = live.timing(legRequest({ sampleRate }));
        const { min, largest } = frameSizes(frame, sampleRate);
        expect((min * 1_000) / sampleRate).toBeGreaterThanOrEqual(50);
        expect((largest * 1_000) / sampleRate).toBeLessThanOrEqual(1_000);
        // A frame longer than the burst would never leave.
        expect(burstMs).toBeGreaterThanOrEqual((largest * 1_000) / sampleRate);
        expect([frame.tail, speedMax, burstMs <= 1_000]).toEqual(['pad', 1, true]);
      }
    }
  });

  it('waits for a formatted version only where one was asked for and can come', () => {
    const formattedWaitMs = (model: string, format_turns?: boolean) =>
      live.timing(legRequest({ model, params: format_turns === undefined ? {} : { format_turns } })).formattedWaitMs;
    expect([formattedWaitMs('universal-streaming-english', true), formattedWaitMs('whisper-rt', true)]).toEqual([
      700, 700,
    ]);
    expect([formattedWaitMs('universal-streaming-english'), formattedWaitMs('whisper-rt', false)]).toEqual([0, 0]);
    expect([formattedWaitMs('universal-streaming-multilingual', true), formattedWaitMs('u3-rt-pro', true)]).toEqual([
      0, 0,
    ]);
  });

  it('keeps a session alive only where silence would end it', () => {
    expect(live.timing(legRequest()).keepAliveMs).toBeUndefined();
    expect(live.timing(legRequest({ params: { inactivity_timeout: 10 } })).keepAliveMs).toBe(5_000);
    expect(live.keepAlive(new Codec().state)).toEqual([{ type: 'KeepAlive' }]);
  });

  it('is patient with Universal-3, which says nothing in long speech, and knows the limit of three hours', () => {
    expect(live.timing(legRequest({ model: 'u3-rt-pro' })).stallMs).toBeGreaterThan(live.timing(legRequest()).stallMs);
    expect(live.timing(legRequest()).sessionMaxMs).toBe(3 * 3_600_000);
  });
});
