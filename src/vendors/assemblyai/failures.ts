// What AssemblyAI's close codes, `Error` messages, HTTP refusals and failed jobs mean. The docs disagree on the code of some
// (too many sessions is 1008 on one page and 3009 on another), so the text decides where it is clear.
import { FailureTable } from '../kit/failures.ts';
import { textIn } from '../kit/json.ts';

const TOO_MANY = /too many (concurrent|streams)|concurrent sessions|concurrency limit/i;
const ACCOUNT =
  /unauthori[sz]ed|not authori[sz]ed|authentication|api (key|token)|insufficient funds|\bbalance\b|account .*disabled|paid-only/i;
const UNUSABLE =
  /(unable to|cannot|could not|failed to)( be)? (download|decode|read)|download error|unreachable|transcoding failed|not (appear to )?contain audio|no (spoken )?audio|too short|unsupported (file|format|codec)|corrupt|file (is )?empty|audio duration/i;

const tooMany = { kind: 'next', message: 'AssemblyAI has too many sessions of this account open.' } as const;
const account = { kind: 'account', message: 'AssemblyAI refused the credential or the account.' } as const;
const message = { kind: 'caller', message: 'AssemblyAI refused a message or an option.' } as const;
// The frames and the pace are the gateway's, so the customer's request is not at fault; a new connection starts again.
const pace = { kind: 'retry', message: 'AssemblyAI refused the size or the pace of the audio.' } as const;
const over = { kind: 'retry', reason: 'upstream_closed' } as const;
const longest = { ...over, message: 'The AssemblyAI session reached its longest duration.' };

export const failures = new FailureTable({
  title: 'AssemblyAI',
  rows: [
    // Refusals. A negative balance comes as 400. While a file is worked on, 403 is an upload of another account, 404 a job that
    // is not there.
    { status: '5xx' },
    { status: 'any', words: TOO_MANY, kind: 'next' },
    { status: 'any', words: ACCOUNT, kind: 'account' },
    { status: [403, 404], file: true, kind: 'next' },
    { status: 'any' },
    // Jobs: a bad file is bad for every provider, anything else is not.
    {
      file: true,
      words: UNUSABLE,
      as: 'audio_unusable',
      kind: 'caller',
      message: 'AssemblyAI cannot use the audio of this file.',
    },
    // Closes and errors. A good key is now and then called badly padded, and taken the next time.
    { words: /incorrect padding/i, kind: 'retry', message: 'AssemblyAI could not read the credential this time.' },
    { words: TOO_MANY, ...tooMany },
    { close: 1008, ...account },
    { close: 3005, kind: 'retry', message: 'AssemblyAI had an error of its own.' },
    { close: 3006, ...message },
    { close: 3007, ...pace },
    { close: 3008, ...longest },
    { close: 3009, ...tooMany },
    { close: 4000, kind: 'next', message: 'AssemblyAI does not take this sample rate.' },
    { close: 4001, kind: 'account', message: 'AssemblyAI refused the credential.' },
    { close: 4002, kind: 'account', message: 'The AssemblyAI account has no funds.' },
    { close: 4003, kind: 'account', message: 'The AssemblyAI account is a free one, and this is not free.' },
    { close: 4004, ...over, message: 'AssemblyAI does not know the session.' },
    { close: 4008, ...over, message: 'The AssemblyAI session has expired.' },
    { close: 4010, ...over, message: 'The AssemblyAI session is closed.' },
    { close: 4029, kind: 'next', message: 'AssemblyAI limits the rate of this account.' },
    { close: 4030, ...over, message: 'AssemblyAI has this session twice.' },
    { close: 4031, ...over, message: 'AssemblyAI ended an idle session.' },
    { close: 4032, kind: 'retry', message: 'AssemblyAI found the audio too short.' },
    { close: 4033, kind: 'retry', message: 'AssemblyAI found the audio too long.' },
    { close: 4034, kind: 'retry', message: 'AssemblyAI found the audio too small.' },
    { close: 4101, kind: 'caller', message: 'AssemblyAI refused the form of the request.' },
    { close: 4102, kind: 'next', message: 'AssemblyAI has too many streams of this account open.' },
    { close: 4103, ...over, message: 'The AssemblyAI session was taken over by another connection.' },
    { words: /input duration|transmission rate exceeded/i, ...pace },
    { words: /session (has )?expired|maximum session duration/i, ...longest },
    { words: /^invalid (message|json)/i, ...message },
    { words: ACCOUNT, ...account },
    { name: 'terminated', ...over, message: 'AssemblyAI ended the session before it was asked to.' },
    { name: 'bad_answer', kind: 'next', message: 'An answer of AssemblyAI could not be read.' },
  ],
  refusal: ({ error, message }) => ({ words: textIn(error) ?? textIn(message) }),
  quote: (message, words) => `${message} It said: ${words}`,
});
