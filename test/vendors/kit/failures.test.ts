// What a failure table makes of refusals, errors, closes and failed jobs, whatever the provider.
import { describe, expect, it } from 'vitest';
import { FailureTable } from '../../../src/vendors/kit/failures.ts';
import { textIn } from '../../../src/vendors/kit/json.ts';

const failures = new FailureTable({
  title: 'Example',
  rows: [
    { status: 403, param: 'file', as: 'audio_unusable', kind: 'caller' },
    { status: 400, file: true, words: /too long/, as: 'audio_too_long', kind: 'next' },
    { status: '5xx', code: 'busy', kind: 'next' },
    { status: 409, code: 'no_credit', kind: 'account' },
    { file: true, words: /decode/, as: 'audio_unusable', kind: 'caller', message: 'Example cannot read this file.' },
    { code: ['bad_key', 'no_key'], kind: 'account', message: 'Example does not accept the key.' },
    { code: /^soft_/, survives: true },
    { close: 4005, code: 'quota', kind: 'next', message: 'Example has too many sessions.' },
    { close: [4001, 4002], kind: 'next', reason: 'upstream_closed', message: 'Example has no room.' },
    { words: /slow down/, kind: 'next', message: 'Example limits the rate.' },
    { name: 'own', kind: 'retry', message: 'Named by the codec.' },
  ],
  refusal: ({ code, message, param }) => ({ code: textIn(code), words: textIn(message), param: textIn(param) }),
  close: (reason) => ({ code: /\[(\w+)\]/.exec(reason)?.[1], type: /\{(\w+)\}/.exec(reason)?.[1] }),
});

const refusal = (status: number, body: object = {}, headers = {}) => ({ status, headers, body: JSON.stringify(body) });

describe('a refusal', () => {
  it.each([
    [403, { param: 'file' }, { kind: 'caller', code: 'audio_unusable', reason: 'connect_failed' }],
    [403, {}, { kind: 'account', code: 'http_403', reason: 'connect_failed' }],
    [503, { code: 'busy' }, { kind: 'next', code: 'busy' }],
    [503, { code: 'other' }, { kind: 'retry', code: 'other' }],
    [400, { code: 'busy' }, { kind: 'caller', code: 'busy', reason: 'upstream_error' }],
    [400, { message: 'too long' }, { kind: 'caller', code: 'http_400' }],
    [401, { code: 'no_key' }, { kind: 'account', code: 'no_key', message: 'Example does not accept the key.' }],
    [429, { message: 'slow down' }, { kind: 'next', message: 'Example limits the rate: slow down' }],
    // A close or a name is no answer to a request.
    [400, { code: '4001' }, { kind: 'caller', code: '4001' }],
    [500, { code: 'own' }, { kind: 'retry', code: 'own', message: 'The provider answered with HTTP 500.' }],
  ])('becomes, with %i %j, the failure %j', (status, body, failure) => {
    expect(failures.ofRefusal(refusal(status, body))).toMatchObject(failure);
  });

  it('uses separate rows for a file', () => {
    const answer = refusal(400, { message: 'too long' }, { 'retry-after': '2' });
    expect(failures.ofRefusal(answer, { file: true })).toMatchObject({
      kind: 'next',
      code: 'audio_too_long',
      message: 'The provider answered with HTTP 400: too long',
      retryAfterMs: 2_000,
    });
  });

  it('says nothing of the provider’s words about an account, which may quote its key', () => {
    const answer = refusal(401, { code: 'bad_key', message: 'sk-…abcd is wrong' });
    expect(failures.ofRefusal(answer).message).not.toMatch(/abcd/);
  });

  it.each([
    ['by its status alone', 401, {}],
    ['by a row without a message', 409, { code: 'no_credit' }],
  ])('nor where it is about an account %s', (_, status, more) => {
    const answer = refusal(status, { ...more, message: 'Incorrect API key provided: sk-pr***…***wxyz.' });
    expect(failures.ofRefusal(answer)).toMatchObject({
      kind: 'account',
      message: `The provider answered with HTTP ${status}.`,
    });
  });

  it('hides the ends of a masked key in every message', () => {
    const masked = 'The key sk-proj-ab****************wxyz, or (key=abcd***wxyz), is odd.';
    const said = [
      failures.ofRefusal(refusal(400, { message: masked })),
      failures.ofError('novel', masked),
      failures.ofClose(1008, masked),
      failures.ofJob('novel', masked),
    ].map((failure) => failure?.message);
    for (const message of said) expect(message).toMatch(/The key \[hidden\] or \[hidden\] is odd\.$/);
  });
});

describe('an error, a close, a job', () => {
  it('follows the first row that fits, and survives where that row allows', () => {
    expect(failures.ofError('bad_key', 'words')).toMatchObject({ kind: 'account', code: 'bad_key' });
    expect(failures.ofError('soft_limit')).toBeUndefined();
    expect(failures.heardOfError('soft_limit')).toEqual([]);
    expect(failures.ofError('novel', 'a\nb')).toMatchObject({
      kind: 'retry',
      code: 'novel',
      message: 'Example reported an error: a b',
    });
    expect(failures.ofError(undefined)).toMatchObject({ code: 'error' });
    expect(failures.ofError(undefined, '', 'bad_key')).toMatchObject({ kind: 'account', code: 'bad_key' });
    expect(failures.ofError('novel', '', 'no_key')).toMatchObject({ kind: 'account', code: 'novel' });
    expect(failures.ofError('4002')).toMatchObject({ kind: 'next', code: '4002' });
    expect(failures.ofError('c'.repeat(99))?.code).toHaveLength(64);
  });

  it('follows a close code, or the code in its reason', () => {
    expect(failures.ofClose(4001, '')).toMatchObject({ kind: 'next', code: 'close_4001', reason: 'upstream_closed' });
    expect([failures.ofClose(4005, ''), failures.ofError('quota')]).toMatchObject([
      { kind: 'next', code: 'close_4005' },
      { kind: 'next', code: 'quota' },
    ]);
    expect(failures.ofClose(1008, '[bad_key] words')).toMatchObject({ kind: 'account', code: 'bad_key' });
    expect(failures.ofClose(1008, '{bad_key} [novel]')).toMatchObject({ kind: 'account', code: 'novel' });
    expect(failures.ofClose(1006, 'slow down')).toMatchObject({ kind: 'next', code: 'close_1006' });
    expect(failures.ofClose(1006, '')).toMatchObject({ kind: 'retry', message: 'Example closed the connection.' });
  });

  it('ends a leg that was finishing, unless a turn is open', () => {
    const closed = (finishing: boolean, open: boolean, code = 1000) =>
      failures.heardOfClose(code, '', { finishing, open, orderly: [1000, 1005] });
    expect(closed(true, false)).toEqual({ type: 'finished' });
    expect(closed(true, false, 1005)).toEqual({ type: 'finished' });
    expect(closed(true, true)).toMatchObject({ type: 'failed', failure: { code: 'final_missing' } });
    expect(closed(false, false)).toMatchObject({ type: 'failed', failure: { code: 'close_1000' } });
    expect(closed(true, false, 1011)).toMatchObject({ type: 'failed', failure: { code: 'close_1011' } });
  });

  it('follows the rows for files for a file', () => {
    expect(failures.ofJob(undefined, 'cannot decode')).toMatchObject({ kind: 'caller', code: 'audio_unusable' });
    expect(failures.ofJob('bad_key')).toMatchObject({ kind: 'next', code: 'bad_key' });
    expect(failures.ofJob(undefined, 'slow down')).toMatchObject({ kind: 'next', code: 'job_failed' });
  });

  it('carries a name where the codec knows it', () => {
    expect(failures.named('own', 'why')).toMatchObject({ code: 'own', message: 'Named by the codec: why' });
    expect(failures.named('bad_answer')).toMatchObject({ kind: 'next', code: 'bad_answer' });
    expect(failures.named('novel')).toMatchObject({ kind: 'retry', code: 'novel' });
  });
});
