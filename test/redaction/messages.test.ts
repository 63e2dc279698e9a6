// Messages of failures and warnings, in which a provider repeats what it heard.
import { describe, expect, it } from 'vitest';
import { redactedMessage } from '../../src/redaction/messages.ts';

describe('a message of a provider', () => {
  it('has labels in the place of what is redacted, also where it is cut within a number', () => {
    expect(
      redactedMessage('deepgram/nova-3: bad text "my card is 4111 1111 1111 1111" at a@b.com', ['card', 'email']),
    ).toBe('deepgram/nova-3: bad text "my card is [CARD]" at [EMAIL]');
    expect(redactedMessage('The provider answered with HTTP 400: my card is 4111 1111', ['card'])).toBe(
      'The provider answered with HTTP 400: my card is',
    );
  });

  it('is left out where a service finds names: no service reads it', () => {
    expect(
      redactedMessage('The provider answered with HTTP 400: Zoe Quill said 4111 1111 1111 1111', ['name', 'card']),
    ).toBe('The provider answered with HTTP 400.');
  });

  it.each([
    'deepgram/nova-3: The provider did not answer in time.',
    'None of 2 attempts succeeded; the last was custom/my.model-2: The provider did not answer in time.',
  ])('keeps what the gateway itself says of a model where a service finds names: %s', (message) => {
    expect(redactedMessage(message, ['name'])).toBe(message);
    expect(redactedMessage(message.replace(/\.$/, ': a/b: Zoe'), ['name'])).toBe(message);
  });

  it.each([
    'The provider answered with HTTP 429: more than 100 requests in 60 s.',
    'The file is larger than 26214400 bytes, the most that this model takes. Split it, or choose another model.',
    'The connection to deepgram/nova-3 was lost and made again; 1.5 s of audio were sent again.',
    'Audio arrives at 3.00 times real time. If it comes from a microphone, `sample_rate` (16000) is probably wrong.',
  ])('stays as it is without any of that: %s', (message) => {
    expect(redactedMessage(message, ['card', 'email', 'phone', 'iban', 'national_id', 'date_of_birth'])).toBe(message);
  });
});
