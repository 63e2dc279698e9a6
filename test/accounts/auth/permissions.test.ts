// What a key allows: kinds of work, models, and the pages it may be used from.
import { describe, expect, test } from 'vitest';
import { requireModels, requireOrigin, requireScope } from '../../../src/accounts/auth/permissions.ts';
import { SCOPES } from '../../../src/accounts/keys/calls.ts';
import { ApiError } from '../../../src/api/errors.ts';
import { apiKey, callerOf } from '../../fakes/api-keys.ts';

function apiErrorOf(run: () => void): ApiError | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

describe('scopes', () => {
  test.each(SCOPES)('%s is allowed with it, and refused by its name without it', (scope) => {
    const others = SCOPES.filter((other) => other !== scope);
    expect(apiErrorOf(() => requireScope(callerOf(apiKey({ scopes: [scope] })), scope))).toBeUndefined();
    const refusal = apiErrorOf(() => requireScope(callerOf(apiKey({ scopes: others })), scope));
    expect(refusal).toMatchObject({ code: 'scope_not_allowed', status: 403, closeCode: 4003 });
    expect(refusal?.message).toContain(`\`${scope}\``);
  });
});

describe('models', () => {
  test.each([
    ['no list', null, ['a/x', 'b/y'], undefined, null],
    ['an empty list', [], ['a/x'], 'model', 'a/x'],
    ['the very slugs', ['a/x', 'b/y'], ['b/y', 'a/x'], undefined, null],
    ['a provider’s every model', ['a/*'], ['a/x', 'a/z'], undefined, null],
    ['every own server’s model', ['custom/*'], ['custom/x', 'custom/z'], undefined, null],
    ['another own server’s model', ['custom/x'], ['custom/z'], 'model', 'custom/z'],
    ['another model', ['a/x'], ['a/z'], 'model', 'a/z'],
    ['a fallback that is not listed', ['a/x'], ['a/x', 'b/y'], 'fallbacks', 'b/y'],
    ['a provider whose name begins alike', ['a/*'], ['ab/x'], 'model', 'ab/x'],
    ['a model whose name begins alike', ['a/x'], ['a/xy'], 'model', 'a/xy'],
    ['other letters', ['a/X'], ['a/x'], 'model', 'a/x'],
    ['a star that stands for everything', ['*'], ['a/x'], 'model', 'a/x'],
  ])('work with %s', (_, models, slugs, param, slug) => {
    const refusal = apiErrorOf(() => requireModels(callerOf(apiKey({ models })), slugs));
    expect(refusal?.extras.param).toBe(param);
    if (slug === null) return;
    expect(refusal).toMatchObject({ code: 'model_not_allowed', status: 403, closeCode: 4003 });
    expect(refusal?.message).toContain(`the model ${slug};`);
    expect(refusal?.message).toContain((models ?? []).join(', ') || 'none');
  });

  test('appear in part from a long list', () => {
    const models = Array.from({ length: 12 }, (_, index) => `a/m${index}`);
    expect(apiErrorOf(() => requireModels(callerOf(apiKey({ models })), ['b/y']))?.message).toMatch(
      /a\/m9 and 2 more\.$/,
    );
  });
});

describe('origins', () => {
  const origins = ['https://app.example.com'];

  test.each([
    ['a key without a list, from anywhere', null, 'key', 'https://evil.example', true],
    ['a token without a list, from anywhere', null, 'token', 'https://evil.example', true],
    ['a token without a list, without an origin', null, 'token', undefined, true],
    ['a key from its page', origins, 'key', 'https://app.example.com', true],
    ['a token from its page', origins, 'token', 'https://app.example.com', true],
    ['a key from a server', origins, 'key', undefined, true],
    ['a token from a server', origins, 'token', undefined, false],
    ['a key from another page', origins, 'key', 'https://evil.example', false],
    ['a token from another page', origins, 'token', 'https://evil.example', false],
    ['another scheme', origins, 'token', 'http://app.example.com', false],
    ['another port', origins, 'token', 'https://app.example.com:8443', false],
    ['a host that ends alike', origins, 'token', 'https://evil-app.example.com', false],
    ['a host that begins alike', origins, 'token', 'https://app.example.com.evil.example', false],
    ['a path behind it', origins, 'token', 'https://app.example.com/', false],
    ['other letters', origins, 'token', 'https://APP.example.com', false],
    ['a page without its own origin', origins, 'token', 'null', false],
    ['an empty origin', origins, 'key', '', false],
    ['an empty list', [], 'key', 'https://app.example.com', false],
  ] as const)('%s', (_, list, via, origin, isAllowed) => {
    const refusal = apiErrorOf(() => requireOrigin(callerOf(apiKey({ origins: list }), via), origin));
    expect(refusal === undefined).toBe(isAllowed);
    if (!isAllowed) expect(refusal).toMatchObject({ code: 'origin_not_allowed', status: 403, closeCode: 4003 });
  });

  test('repeat a page’s name in printable letters only', () => {
    const refusal = apiErrorOf(() =>
      requireOrigin(callerOf(apiKey({ origins })), `https://\u001b[31m${'x'.repeat(500)}`),
    );
    expect(refusal?.message).toMatch(/^[\x20-\x7e]{1,300}$/);
  });
});
