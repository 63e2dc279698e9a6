// The catalogue and the options of AssemblyAI: prices as listed, and for each option which model honours it in which mode.
import { Value } from '@sinclair/typebox/value';
import { describe, expect, it } from 'vitest';
import { Model } from '../../../src/api/models.ts';
import { microUsdOf } from '../../../src/billing/price.ts';
import { assemblyai } from '../../../src/providers/assemblyai/index.ts';
import { options } from '../../../src/providers/assemblyai/options.ts';

const { honoured, honours, schema: optionsOf } = options;

const STREAMING = [
  'universal-streaming-english',
  'universal-streaming-multilingual',
  'u3-rt-pro',
  'universal-3-5-pro',
  'whisper-rt',
];
const modelNames = assemblyai.models.map(({ id }) => id.slice('assemblyai/'.length));

describe('the catalogue', () => {
  it('holds the live models and those for files', () => {
    const named = (mode: string) =>
      assemblyai.models.filter(({ modes }) => modes.includes(mode as 'live')).map(({ id }) => id);
    expect(named('live')).toEqual(STREAMING.map((name) => `assemblyai/${name}`));
    expect(named('batch')).toEqual(['assemblyai/universal-3-5-pro', 'assemblyai/universal-2']);
  });

  it.each([
    ['universal-streaming-english', 'live', 0.15],
    ['universal-streaming-multilingual', 'live', 0.15],
    ['u3-rt-pro', 'live', 0.45],
    ['universal-3-5-pro', 'live', 0.45],
    ['whisper-rt', 'live', 0.3],
    ['universal-2', 'batch', 0.15],
    ['universal-3-5-pro', 'batch', 0.21],
  ] as const)('prices %s %s at its list price of %s USD an hour', (name, mode, dollars) => {
    const price = assemblyai.models.find(({ id }) => id === `assemblyai/${name}`)?.pricing[mode];
    expect([price?.unit, Number(microUsdOf(price?.amount ?? '0')) * 60]).toEqual(['minute', Math.round(dollars * 1e6)]);
  });

  it('is made of whole rows, each mode with its price', () => {
    for (const { priceSource, ...card } of assemblyai.models) {
      const row = {
        ...card,
        object: 'model',
        owned_by: 'assemblyai',
        provider_params: {},
        available: true,
        status: 'up',
      };
      expect([...Value.Errors(Model, row)]).toEqual([]);
      expect(
        Object.keys(card.pricing)
          .filter((key) => key !== 'currency')
          .sort(),
      ).toEqual([...card.modes].sort());
      expect(priceSource.date).toMatch(/^\d{4}-\d\d-\d\d$/);
    }
  });
});

describe('the options', () => {
  it('are each honoured by some model, in some mode, and no others are', () => {
    for (const option of Object.keys(optionsOf('universal-2').properties)) {
      const where = modelNames.filter((name) => honours(option, name, 'live') || honours(option, name, 'batch'));
      expect([option, where.length]).not.toEqual([option, 0]);
    }
    expect(modelNames.some((name) => honours('constructor', name, 'live'))).toBe(false);
    expect(honours('unheard_of', 'universal-2', 'batch')).toBe(false);
  });

  it.each<[string, string[], string[]]>([
    ['format_turns', ['universal-streaming-english', 'whisper-rt'], []],
    [
      'end_of_turn_confidence_threshold',
      ['universal-streaming-english', 'universal-streaming-multilingual', 'whisper-rt'],
      [],
    ],
    ['prompt', ['u3-rt-pro', 'universal-3-5-pro'], ['universal-3-5-pro']],
    ['language_codes', ['universal-3-5-pro'], []],
    ['language_detection', STREAMING.slice(1), ['universal-3-5-pro', 'universal-2']],
    ['keyterms_prompt', STREAMING, ['universal-3-5-pro', 'universal-2']],
    ['redact_pii', STREAMING, ['universal-3-5-pro', 'universal-2']],
    ['custom_spelling', [], ['universal-2']],
    ['speech_models', [], ['universal-3-5-pro']],
    ['audio_end_at', [], ['universal-3-5-pro', 'universal-2']],
  ])('%s is honoured live by %j and for files by %j', (option, live, batch) => {
    const models = assemblyai.models.map((card) => ({ name: card.id.slice('assemblyai/'.length), modes: card.modes }));
    const among = (mode: 'live' | 'batch') =>
      models.filter(({ name, modes }) => modes.includes(mode) && honours(option, name, mode)).map(({ name }) => name);
    expect([among('live'), among('batch')]).toEqual([live, batch]);
  });

  it('that are not honoured are left out', () => {
    expect(honoured({ format_turns: true, vad_threshold: 0.5, punctuate: true }, 'u3-rt-pro', 'live')).toEqual({
      vad_threshold: 0.5,
    });
  });

  const terms = (count: number) => ({ keyterms_prompt: Array.from({ length: count }, (_, index) => `term ${index}`) });
  it.each<[string, object, boolean]>([
    ['whisper-rt', {}, true],
    ['whisper-rt', { unheard_of: 1 }, false],
    ['whisper-rt', { end_of_turn_confidence_threshold: 1.1 }, false],
    ['whisper-rt', { max_speakers: 0 }, false],
    ['whisper-rt', { max_speakers: 10 }, true],
    ['whisper-rt', { inactivity_timeout: 4 }, false],
    ['whisper-rt', { inactivity_timeout: 3_600 }, true],
    ['u3-rt-pro', { interruption_delay: 1_001 }, false],
    ['u3-rt-pro', { agent_context: 'x'.repeat(1_501) }, false],
    ['u3-rt-pro', { mode: 'balanced', voice_focus: 'near-field', domain: 'medical-v1' }, true],
    ['u3-rt-pro', { mode: 'fast' }, false],
    ['universal-3-5-pro', terms(100), true],
    ['universal-3-5-pro', terms(101), false],
    ['universal-2', terms(200), true],
    ['universal-2', terms(201), false],
    ['universal-2', { custom_spelling: [{ from: ['vox gate'], to: 'Voxgate' }] }, true],
    ['universal-2', { custom_spelling: [{ from: [], to: 'Voxgate' }] }, false],
    ['universal-2', { redact_pii: true, redact_pii_policies: ['person_name'], redact_pii_sub: 'hash' }, true],
    ['universal-2', { audio_start_from: -1 }, false],
  ])('of %s: %j is accepted: %s', (model, params, accepted) => {
    expect(Value.Check(optionsOf(model), params)).toBe(accepted);
  });
});
