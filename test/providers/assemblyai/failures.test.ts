// What AssemblyAI's codes and texts mean: whether the credential, the request, the file or the moment is to blame.
import { describe, expect, it } from 'vitest';
import { failures } from '../../../src/providers/assemblyai/failures.ts';

describe('a close', () => {
  it.each<[number, string, string]>([
    [1008, 'Unauthorized Connection: Missing Authorization header', 'account'],
    [1008, 'Unauthorized Connection: Insufficient account balance', 'account'],
    [1008, '', 'account'],
    [1008, 'Unauthorized Connection: Too many concurrent sessions', 'next'],
    [3005, 'Session Cancelled: An error occurred', 'retry'],
    [3006, 'Invalid Message Type: Nonsense', 'caller'],
    [3007, 'Input duration violation: 20 ms. Expected between 50 and 1000 ms', 'retry'],
    [3007, 'Audio Transmission Rate Exceeded: Received 5 sec. audio in 1 sec', 'retry'],
    [3008, 'Session Expired: Maximum session duration exceeded', 'retry'],
    [3009, 'Unauthorized Connection: Too many concurrent sessions', 'next'],
    [3009, '', 'next'],
    [4000, '', 'caller'],
    [4001, '', 'account'],
    [4002, '', 'account'],
    [4003, '', 'account'],
    [4008, '', 'retry'],
    [4029, '', 'next'],
    [4031, '', 'retry'],
    [4101, '', 'caller'],
    [4102, '', 'next'],
    [4103, '', 'retry'],
    [1006, '', 'retry'],
    [1011, '', 'retry'],
    [1011, 'Unauthorized Connection: account disabled', 'account'],
  ])('with %i "%s" is of kind %s', (code, text, kind) => {
    expect(failures.ofClose(code, text)).toMatchObject({ kind, code: `close_${code}` });
  });

  it('for a planned end is told as a close, not as an error', () => {
    expect(failures.ofClose(3008, '').reason).toBe('upstream_closed');
    expect(failures.ofClose(1001, '').reason).toBe('upstream_closed');
  });
});

describe('an `Error`', () => {
  it.each<[number | undefined, string, string, string]>([
    [undefined, 'Unauthorized Connection: Too many concurrent sessions', 'next', 'error'],
    [undefined, 'Not authorized', 'account', 'error'],
    [undefined, 'Input duration violation: 5 ms', 'retry', 'error'],
    [undefined, 'Session Expired: Maximum session duration exceeded', 'retry', 'error'],
    [undefined, 'Invalid JSON: {', 'caller', 'error'],
    [undefined, 'something else', 'retry', 'error'],
    [undefined, '', 'retry', 'error'],
    [3005, 'anything', 'retry', '3005'],
    // What a message quotes is not what went wrong.
    [3006, 'Invalid Message Type: balance', 'caller', '3006'],
    [77, 'constructor', 'retry', '77'],
  ])('with %s "%s" is of kind %s', (code, text, kind, name) => {
    expect(failures.ofError(code?.toString(), text)).toMatchObject({ kind, code: name });
  });

  it('passes AssemblyAI’s words on, on one line and not without end', () => {
    const message = failures.ofError('3005', `a\nb${'c'.repeat(1_000)}`)?.message ?? '';
    expect(message).toMatch(/^AssemblyAI had an error of its own\. It said: a bc+$/);
    expect(message.length).toBeLessThan(400);
    expect(failures.ofError('3005')?.message).toBe('AssemblyAI had an error of its own.');
  });
});

describe('a refusal', () => {
  const refusal = (status: number, body = '', headers = {}) => ({ status, headers, body });
  const said = (error: string) => JSON.stringify({ error });

  it.each<[number, string, string, string]>([
    [400, said('bad request'), 'caller', 'caller'],
    [400, said('Your current account balance is negative.'), 'account', 'account'],
    [401, said('Authentication error, API token missing/invalid'), 'account', 'account'],
    [403, said('Cannot access uploaded file'), 'account', 'caller'],
    [403, said('Account temporarily disabled'), 'account', 'account'],
    [404, said('Not found'), 'next', 'caller'],
    [429, '', 'next', 'next'],
    [403, said('Too many concurrent sessions'), 'next', 'next'],
    [500, said('balance service is down'), 'retry', 'retry'],
    [503, '<html>', 'retry', 'retry'],
    [504, '[1]', 'retry', 'retry'],
  ])('with %i %s is of kind %s live, and %s for files', (status, body, live, file) => {
    expect(failures.ofRefusal(refusal(status, body))).toMatchObject({ kind: live, code: `http_${status}` });
    expect(failures.ofRefusal(refusal(status, body), { file: true }).kind).toBe(file);
  });

  it('says how long to leave AssemblyAI alone', () => {
    expect(failures.ofRefusal(refusal(429, '', { 'retry-after': '30' })).retryAfterMs).toBe(30_000);
  });
});

describe('a failed job', () => {
  it.each([
    ['Download error, unable to download https://example.test/a', 'caller'],
    ['Transcoding failed. File does not appear to contain audio.', 'caller'],
    ['Audio file is too short; audio duration is below 160 ms', 'caller'],
    ['File could not be decoded', 'caller'],
    ['Internal error, please try again', 'next'],
    ['', 'next'],
  ])('with "%s" is of kind %s', (text, kind) => {
    expect(failures.ofJob(undefined, text)).toMatchObject({ kind });
  });
});
