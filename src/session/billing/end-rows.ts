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
    when: 'The client disconnects before its session is opened.',
    reason: 'client_closed',
    billed: 'Nothing; the hold is released.',
    told: 'The client is gone.',
  },
  {
    when: 'The process is killed, and its data directory still exists: the next start settles the session.',
    reason: 'recovered',
    billed: 'Audio sent up to the last checkpoint, at most a few seconds before.',
    told: 'The socket breaks (1006).',
  },
  {
    when: 'The node and its data directory are lost: the accounts node settles the session when it gives the node up.',
    reason: 'node_lost',
    billed: 'The usage that was posted while it ran. If the node comes back, the rest is billed too, once.',
    told: 'The socket breaks (1006).',
  },
  {
    when: 'The ledger does not answer when the session ends.',
    reason: 'as for the end',
    billed: 'The same amount. The journal keeps the end, and the ledger settles it, once, when it answers.',
    told: 'The same as with a ledger.',
  },
];

export const FILE_ENDS: readonly EndRow[] = [
  {
    when: 'Refused before the file was sent to a provider: the form, the credential, the credit, a limit.',
    reason: null,
    billed: 'Nothing.',
    told: 'The status of the refusal.',
  },
  {
    when: 'Transcribed.',
    reason: 'completed',
    billed: 'The length of the file, times the channels that its provider bills; never more than the hold.',
    told: '200, with `usage`.',
  },
  {
    when: 'No model of the chain could transcribe it in time.',
    reason: 'released',
    billed: 'Nothing; the hold is released.',
    told: '502, 503 or 504 with the attempts; 400 if the file cannot be read.',
  },
  {
    when: 'With `strict`, the provider’s answer lacks a requested feature.',
    reason: 'answer_untaken',
    billed: 'Nothing for the first files of a day (`VOXGATE_UNTAKEN_FILES_FREE`), then as transcribed.',
    told: '422.',
  },
  {
    when: 'The client disconnects while a provider has its file, before any answer: the first files of a day (`VOXGATE_UNTAKEN_FILES_FREE`).',
    reason: 'released',
    billed: 'Nothing; the job is cancelled at the provider if possible.',
    told: 'The client is gone.',
  },
  {
    when: 'The same, for further files of the day.',
    reason: 'answer_untaken',
    billed: 'As transcribed, when the provider has finished.',
    told: 'The client is gone.',
  },
  {
    when: 'The form is invalid after a file that a provider has already transcribed.',
    reason: 'answer_untaken',
    billed: 'Nothing for the first files of a day (`VOXGATE_UNTAKEN_FILES_FREE`), then as transcribed.',
    told: 'The refusal of the form.',
  },
  {
    when: 'The client disconnects during a streamed answer.',
    reason: 'completed',
    billed: 'The seconds up to the last utterance that was sent.',
    told: 'The client is gone.',
  },
  {
    when: 'The client disconnects, and the request has an `Idempotency-Key`.',
    reason: 'completed',
    billed: 'As transcribed: the work continues, and the answer is kept for 24 hours.',
    told: 'The answer, if the request is repeated.',
  },
  {
    when: 'Transcribed, but the answer cannot be delivered.',
    reason: 'completed',
    billed: 'As transcribed.',
    told: 'The client is gone.',
  },
  {
    when: 'The same request, repeated with its `Idempotency-Key`.',
    reason: null,
    billed: 'Nothing more.',
    told: 'The first answer, with `Idempotency-Replayed: true`, or a refusal if the key may not use the model.',
  },
  {
    when: 'The hold expired before the answer arrived.',
    reason: 'completed',
    billed: 'As transcribed; the ledger records why this is more than the hold.',
    told: '200, with `usage`.',
  },
  {
    when: 'The process is killed.',
    reason: 'node_lost',
    billed:
      'Nothing; the next start releases the hold and closes the file. If other processes use the database, this takes some minutes.',
    told: 'The connection breaks.',
  },
];
