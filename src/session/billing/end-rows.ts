// Ends that no session decides about itself, and those of files, as docs/reference/ends.md tells them: what is billed of each, and what
// the client hears. The ends of a live session are end-charges.ts.

interface EndRow {
  /** What has happened. */
  readonly when: string;
  /** As the ledger writes it; null where it has no session for it. */
  readonly reason: string | null;
  readonly billed: string;
  readonly told: string;
}

export const LIVE_ENDS_ELSEWHERE: readonly EndRow[] = [
  {
    when: 'The handshake is refused: no credit, no permission, no room, a wrong request.',
    reason: null,
    billed: 'Nothing.',
    told: 'The HTTP status of the refusal; a browser gets the `error` event and its close code.',
  },
  {
    when: 'The client is gone before its session is opened.',
    reason: 'client_closed',
    billed: 'Nothing; the hold is given back.',
    told: 'Nobody is there.',
  },
  {
    when: 'The process is killed, and its directory is still there: settled by the next start.',
    reason: 'recovered',
    billed: 'What was sent up to the last checkpoint, at most a few seconds before.',
    told: 'The socket breaks (1006).',
  },
  {
    when: 'The node is gone for good, and its directory with it: settled once the accounts give it up.',
    reason: 'node_lost',
    billed: 'What was posted while it ran. If the node comes back, the rest is billed beside it, once.',
    told: 'The socket breaks (1006).',
  },
  {
    when: 'The ledger does not answer when the session ends.',
    reason: 'that of the end',
    billed: 'The same: the end is kept in the journal and settled, once, when the ledger answers.',
    told: 'The same as without.',
  },
];

export const FILE_ENDS: readonly EndRow[] = [
  {
    when: 'Refused before a provider was asked: the form, the credential, the credit, a limit.',
    reason: null,
    billed: 'Nothing.',
    told: 'The status of the refusal.',
  },
  {
    when: 'Transcribed.',
    reason: 'completed',
    billed: 'The length of the file, times the channels that its provider bills; never more than was held.',
    told: '200, with `usage`.',
  },
  {
    when: 'No member of the chain could transcribe it, or not in time.',
    reason: 'released',
    billed: 'Nothing; the hold is given back.',
    told: '502, 503 or 504 with the attempts; 400 where the file cannot be read.',
  },
  {
    when: 'With `strict`, the answer of a provider lacks something that was asked for: so often in a day, and more often.',
    reason: 'answer_untaken',
    billed: 'Nothing the first times, then as transcribed.',
    told: '422.',
  },
  {
    when: 'The client leaves while a provider has its file, and nothing was given to it yet: the first times in a day (`VOXGATE_UNTAKEN_FILES_FREE`).',
    reason: 'released',
    billed: 'Nothing; the job is ended at the provider where that can be done.',
    told: 'Nobody is there.',
  },
  {
    when: 'The same, more often in a day.',
    reason: 'answer_untaken',
    billed: 'As transcribed, when the provider has finished.',
    told: 'Nobody is there.',
  },
  {
    when: 'The form is broken behind a file that a provider has transcribed: so often in a day, and more often.',
    reason: 'answer_untaken',
    billed: 'Nothing the first times, then as transcribed.',
    told: 'The refusal of the form.',
  },
  {
    when: 'The client leaves in the middle of a streamed answer.',
    reason: 'completed',
    billed: 'The seconds up to the last utterance that was given.',
    told: 'Nobody is there.',
  },
  {
    when: 'The client leaves, and the request has an `Idempotency-Key`.',
    reason: 'completed',
    billed: 'As transcribed: the work goes on, and the answer is kept for 24 hours.',
    told: 'The answer, to whoever asks again.',
  },
  {
    when: 'Transcribed, and nobody takes the answer.',
    reason: 'completed',
    billed: 'As transcribed.',
    told: 'Nobody is there.',
  },
  {
    when: 'The same request again under its `Idempotency-Key`.',
    reason: null,
    billed: 'Nothing more.',
    told: 'The first answer, with `Idempotency-Replayed: true`; the refusal of a key that may not use the model.',
  },
  {
    when: 'The hold has lapsed before the answer came.',
    reason: 'completed',
    billed: 'As transcribed; the ledger writes down why that is more than was held.',
    told: '200, with `usage`.',
  },
  {
    when: 'The process is killed.',
    reason: 'node_lost',
    billed:
      'Nothing; the hold is given back and the file closed at the next start, or some minutes later where other processes work on the database.',
    told: 'The connection breaks.',
  },
];
