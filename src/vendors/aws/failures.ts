// What the exceptions and refusals of Amazon Transcribe mean. https://docs.aws.amazon.com/transcribe/latest/APIReference/API_streaming_TranscriptResultStream.html
import { FailureTable } from '../kit/failures.ts';
import { textIn } from '../kit/json.ts';

export const failures = new FailureTable({
  title: 'Amazon Transcribe',
  rows: [
    { status: 'any' },
    // Said of audio that has ended in order.
    { code: 'BadRequestException', words: /complete signal was sent/i, survives: true },
    {
      code: 'BadRequestException',
      words: /timed out/i,
      as: 'idle',
      kind: 'retry',
      message: 'Amazon Transcribe had no audio for too long.',
    },
    { code: 'BadRequestException', kind: 'caller', message: 'Amazon Transcribe refused an option or the audio.' },
    {
      code: 'ResourceNotFoundException',
      kind: 'caller',
      message: 'Amazon Transcribe has no such vocabulary or model.',
    },
    { code: 'LimitExceededException', kind: 'next', message: 'The Amazon Transcribe account has reached a limit.' },
    { code: 'ConflictException', kind: 'retry', message: 'Amazon Transcribe knows another session of this name.' },
    {
      code: ['InternalFailureException', 'ServiceUnavailableException'],
      kind: 'retry',
      message: 'Amazon Transcribe could not go on.',
    },
    {
      code: [
        ...['AccessDeniedException', 'UnrecognizedClientException', 'ExpiredTokenException'],
        ...['InvalidSignatureException', 'IncompleteSignatureException', 'MissingAuthenticationTokenException'],
        'SubscriptionRequiredException',
      ],
      kind: 'account',
      message: 'Amazon does not allow this to the account.',
    },
  ],
  refusal: ({ message, Message }) => ({ words: textIn(message) ?? textIn(Message) }),
});
