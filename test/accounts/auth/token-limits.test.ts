// What a client token may be limited to beside its key: it survives the way through the token, and only narrows what the key allows.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowsModel, requireLanguages, requireModels, spendOf } from '../../../src/accounts/auth/permissions.ts';
import {
  limitsOfPayload,
  mintToken,
  payloadOfLimits,
  TOKEN_LENGTH_MAX,
  type TokenLimits,
  tokenSecret,
  verifyToken,
} from '../../../src/accounts/auth/token.ts';
import { ApiError } from '../../../src/api/errors.ts';
import { tightest } from '../../../src/api/request-limits.ts';
import { apiKey, callerOf } from '../../fakes/api-keys.ts';

const SECRET = tokenSecret(Buffer.from('a secret of at least thirty-two characters'));
const BASE = { jti: 'a', key: 'key_1', org: 'org_1', iat: 1_000, exp: 61_000 };

const codeOf = (work: () => void): string | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return `${error.code} ${error.extras.param}`;
    throw error;
  }
};

const caller = (limits: TokenLimits, models: string[] | null = null) => ({
  ...callerOf(apiKey({ models }), 'token'),
  token: { ...limits, expiresAtMs: 61_000 },
});

describe('the limits in a token', () => {
  it('are read as they were minted', () => {
    const limits = fc.record(
      {
        models: fc.array(fc.constantFrom('deepgram/*', 'openai/whisper-1'), { minLength: 1, maxLength: 10 }),
        maxSeconds: fc.integer({ min: 1, max: 360_000 }),
        maxMicroUsd: fc.bigInt({ min: 0n, max: 999_999_999_999_999n }),
        languages: fc.array(fc.constantFrom('en', 'fr-CA'), { minLength: 1, maxLength: 10 }),
        isSingleUse: fc.constant(true as const),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(limits, (given) => {
        const text = mintToken(SECRET, { ...BASE, ...payloadOfLimits(given) });
        expect(text.length).toBeLessThanOrEqual(TOKEN_LENGTH_MAX);
        const payload = verifyToken([SECRET], text, 2_000)!;
        const read = limitsOfPayload(payload);
        if (Object.keys(given).length === 0) expect(read).toBeUndefined();
        else expect(read).toEqual(given);
      }),
    );
  });

  it('are absent from a token without any, which is as long as before', () => {
    const text = mintToken(SECRET, { ...BASE, ...payloadOfLimits({}) });
    expect(Object.keys(verifyToken([SECRET], text, 2_000)!).sort()).toEqual([
      'exp',
      'iat',
      'jti',
      'key',
      'kid',
      'org',
      'v',
    ]);
  });

  it('cannot be changed, nor left out, without the secret', () => {
    const text = mintToken(SECRET, { ...BASE, ...payloadOfLimits({ maxSeconds: 60 }) });
    const [encoded = '', signature = ''] = text.slice(3).split('.');
    const payload = JSON.parse(Buffer.from(encoded, 'base64url').toString());
    for (const changed of [
      { ...payload, sec: 600 },
      { ...payload, sec: undefined },
      { ...payload, extra: 1 },
    ]) {
      const forged = `st_${Buffer.from(JSON.stringify(changed)).toString('base64url')}.${signature}`;
      expect(verifyToken([SECRET], forged, 2_000)).toBeUndefined();
    }
  });

  it('is refused where it has a member that the node does not know', () => {
    const newer = mintToken(SECRET, { ...BASE, later: 1 } as never);
    expect(verifyToken([SECRET], newer, 2_000)).toBeUndefined();
  });

  it('is read up to the longest token, and not beyond', () => {
    const models = (count: number) => Array.from({ length: count }, (_, index) => `provider-${index}/*`);
    const read = (count: number) => {
      const text = mintToken(SECRET, { ...BASE, ...payloadOfLimits({ models: models(count) }) });
      return [text.length <= TOKEN_LENGTH_MAX, verifyToken([SECRET], text, 2_000) !== undefined];
    };
    expect([read(10), read(200)]).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});

describe('models', () => {
  it.each<[string[] | null, string[] | undefined, string[], string | undefined]>([
    [null, undefined, ['deepgram/nova-3'], undefined],
    [null, ['deepgram/*'], ['deepgram/nova-3', 'deepgram/nova-2'], undefined],
    [null, ['deepgram/*'], ['openai/whisper-1'], 'model_not_allowed model'],
    [null, ['deepgram/*'], ['deepgram/nova-3', 'openai/whisper-1'], 'model_not_allowed fallbacks'],
    [['openai/*'], ['deepgram/*'], ['deepgram/nova-3'], 'model_not_allowed model'],
    [['deepgram/nova-3'], ['deepgram/*'], ['deepgram/nova-2'], 'model_not_allowed model'],
    [null, ['deepgram/nova-3'], ['deepgram/nova-3'], undefined],
  ])('of a key %j and a token %j decide about %j', (keys, tokens, slugs, expected) => {
    const asking = tokens === undefined ? callerOf(apiKey({ models: keys })) : caller({ models: tokens }, keys);
    expect(codeOf(() => requireModels(asking, slugs))).toBe(expected);
    expect(slugs.every((slug) => allowsModel(asking, slug))).toBe(expected === undefined);
  });
});

describe('languages', () => {
  const request = (members: object) => ({ language: undefined, providerParams: {}, fallbacks: [], ...members });
  it.each<[string, object, string | undefined]>([
    ['one of them', { language: 'en' }, undefined],
    ['one in another case', { language: 'EN' }, undefined],
    ['a region of one', { language: 'en-US' }, undefined],
    ['a tag of the list', { language: 'fr-CA' }, undefined],
    ['several of them', { language: 'en', common: { languages: ['en', 'fr-CA'] } }, undefined],
    ['options that choose no language', { language: 'en', providerParams: { model: 'x', punctuate: true } }, undefined],
    ['none', {}, 'language_not_allowed language'],
    ['auto', { language: 'auto' }, 'language_not_allowed language'],
    ['languages alone', { common: { languages: ['en'] } }, 'language_not_allowed language'],
    ['another', { language: 'de' }, 'language_not_allowed language'],
    ['one that begins alike', { language: 'enm' }, 'language_not_allowed language'],
    ['a language without the region that is allowed', { language: 'fr' }, 'language_not_allowed language'],
    ['another among several', { language: 'en', common: { languages: ['en', 'de'] } }, 'language_not_allowed language'],
    [
      'an option of the provider',
      { language: 'en', providerParams: { a: { detect_language: true } } },
      'language_not_allowed provider_params',
    ],
    [
      'an option of a fallback',
      { language: 'en', fallbacks: [{ provider_params: { locale: 'de-DE' } }] },
      'language_not_allowed provider_params',
    ],
  ])('a request for %s is decided', (_, members, expected) => {
    const limited = caller({ languages: ['en', 'fr-CA'] });
    expect(codeOf(() => requireLanguages(limited, request(members)))).toBe(expected);
    expect(codeOf(() => requireLanguages(callerOf(), request(members)))).toBeUndefined();
  });
});

describe('what a session may spend', () => {
  it.each<[string, object | undefined, object | undefined, object | undefined]>([
    ['neither', undefined, undefined, undefined],
    ['the request alone', { maxSeconds: 5 }, undefined, { maxSeconds: 5 }],
    ['the token alone', undefined, { maxMicroUsd: 7n }, { maxMicroUsd: 7n }],
    [
      'a tighter request',
      { maxSeconds: 5, maxMicroUsd: 1n },
      { maxSeconds: 9, maxMicroUsd: 7n },
      { maxSeconds: 5, maxMicroUsd: 1n },
    ],
    [
      'a wider request',
      { maxSeconds: 50, maxMicroUsd: 9n },
      { maxSeconds: 9, maxMicroUsd: 7n },
      { maxSeconds: 9, maxMicroUsd: 7n },
    ],
    ['each one of the two', { maxSeconds: 5 }, { maxMicroUsd: 0n }, { maxSeconds: 5, maxMicroUsd: 0n }],
  ])('is the lower of both for %s', (_, one, other, expected) => {
    expect(tightest(one, other)).toEqual(expected);
  });

  it('is nothing for a token that limits other things', () => {
    expect([spendOf(callerOf()), spendOf(caller({ models: ['deepgram/*'] }))]).toEqual([undefined, undefined]);
    expect(spendOf(caller({ maxSeconds: 5 }))).toEqual({ maxSeconds: 5 });
  });
});
