// What is special of the embedded recogniser: the engine understands what it is asked, and its catalogue promises no more than it does.
import { describe, expect, test } from 'vitest';
import { TEXT_BOUNDS } from '../../../src/recogniser/grammar/grammar.ts';
import { ALIGN_BOUNDS } from '../../../src/recogniser/grammar/task-compiler.ts';
import { type GrammarQuery, readQuery } from '../../../src/recogniser/protocol.ts';
import type { LegRequest } from '../../../src/vendors/kit/provider.ts';
import { local } from '../../../src/vendors/local/index.ts';

const live = local.live!('commands-en');
const legRequest = (more: Partial<LegRequest> = {}): LegRequest => ({
  model: 'commands-en',
  sampleRate: 16_000,
  language: undefined,
  interimResults: true,
  diarization: false,
  params: {},
  access: { baseUrl: undefined, credential: undefined },
  ...more,
});
const open = (more: Partial<LegRequest> = {}) => live.open(legRequest(more));
const grammars = local.models.filter(({ id }) => !id.includes('dictation'));
const modelNames = grammars.map(({ id }) => id.replace('local/', ''));

describe('opening', () => {
  test.each(modelNames)('%s asks the engine what the engine understands', (model) => {
    const params = model.startsWith('align-') ? { align_text: 'yes' } : {};
    const { endpoint, hello } = open({ model, params });
    expect(hello).toEqual([]);
    expect(endpoint).toMatchObject({ kind: 'embedded', engine: 'local' });
    const query = endpoint.kind === 'embedded' ? (readQuery(endpoint.query) as GrammarQuery) : undefined;
    expect(query).toMatchObject({ language: model.slice(-2), interims: true });
    expect(query?.task).toMatchObject(
      model.startsWith('align-') ? { kind: 'align', text: 'yes', builtIn: false } : { kind: 'grammar', builtIn: true },
    );
    expect(query?.task.text).not.toBe('');
  });
});

describe('the catalogue', () => {
  test.each(grammars)('$id says that it takes no dictation', ({ description }) => {
    expect(description).toContain('No open dictation');
  });

  test.each(local.models)('$id is free on purpose and ends in its language', (card) => {
    expect(card.pricing).toEqual({
      currency: 'USD',
      batch: { unit: 'minute', amount: '0', byok: '0.00', free: true },
      live: { unit: 'minute', amount: '0', byok: '0.00', free: true },
    });
    expect(card.languages).toEqual([card.id.slice(-2)]);
  });

  test('options are bounded as the recogniser bounds them', () => {
    expect(local.options('commands-en').properties.grammar?.maxLength).toBe(TEXT_BOUNDS.lengthMax);
    expect(local.options('align-en').properties.align_text?.maxLength).toBe(ALIGN_BOUNDS.lengthMax);
  });
});
