// What every end of a live session is billed, by one table. An end in order is billed all that was heard; what an end that
// cuts a session short is billed depends on whose doing it was. docs/reference/ends.md is made from this table.
import type { SessionEndReason } from '../../../../machines/events.ts';
import type { ErrorCode } from '../../../api/errors.ts';

/**
 * Of an end that cuts short. `sent`: up to where audio was sent to a leg that works, or a leg that has failed had answered for it.
 * `answered`: up to where some leg had answered for it, with a final or an interim. `finals`: what finals cover, because neither the
 * client nor its key is the cause.
 */
export type CutCharge = 'sent' | 'answered' | 'finals';

interface SessionEndRow {
  readonly reason: SessionEndReason;
  readonly code: ErrorCode | null;
  /** What has happened, as the document says it. */
  readonly when: string;
  /** Whether it may come after the last final: then all audio is billed, less what credit did not reach. */
  readonly inOrder: boolean;
  /** What is billed where audio is left without its final; null where such an end always waits for it, or becomes another one. */
  readonly cut: CutCharge | null;
}

const row = <
  Reason extends SessionEndReason,
  Code extends ErrorCode | null,
  InOrder extends boolean,
  Cut extends CutCharge | null,
>(
  reason: Reason,
  code: Code,
  when: string,
  inOrder: InOrder,
  cut: Cut,
) => ({ reason, code, when, inOrder, cut });

export const SESSION_ENDS = [
  row(
    'client_closed',
    null,
    'The client sends `close`, closes or loses its socket, or does not answer pings.',
    true,
    null,
  ),
  row('idle', 'session_idle', 'Neither audio nor keepalive arrived within the idle limit.', true, null),
  row('too_long', 'session_too_long', 'The longest duration is reached.', true, 'sent'),
  row('credit', 'insufficient_credit', 'The credit is used up.', true, null),
  row('credit', 'rate_limit_exceeded', 'The key has reached its daily spend.', true, null),
  row('credit', 'spend_ceiling_reached', 'A ceiling on spend is reached.', true, null),
  row('credit', 'max_cost_reached', 'The session reaches its `max_cost`.', true, null),
  row('ledger', 'ledger_unavailable', 'The ledger could not be reached for too long.', true, null),
  row('draining', 'node_draining', 'The node is shut down.', true, 'finals'),
  row('error', 'key_revoked', 'The API key is revoked.', false, 'sent'),
  row('error', 'account_suspended', 'The organisation is suspended.', false, 'sent'),
  row('error', 'audio_backlog_exceeded', 'More audio is ahead of real time than the session can hold.', true, 'sent'),
  row('error', 'overloaded', 'The node has no room for waiting audio.', true, 'sent'),
  row('error', 'message_too_big', 'The client sends a frame over the limit, also after `close`.', false, 'sent'),
  row('error', 'rate_limit_exceeded', 'The client sends endless text, pings or tiny frames.', false, 'sent'),
  row('error', 'slow_consumer', 'The client does not read its events, and a final could not be queued.', false, 'sent'),
  row(
    'error',
    'unsupported_audio',
    'The audio does not match `encoding`: a container instead of samples, or data that is not Opus.',
    false,
    'sent',
  ),
  row('upstream', 'upstream_failed', 'The provider failed, and there is no fallback.', false, 'finals'),
  row('upstream', 'upstream_exhausted', 'Every model of the chain failed.', false, 'finals'),
  row('upstream', 'upstream_account', "The provider rejected the customer's own key.", false, 'answered'),
  row('upstream', 'invalid_provider_params', 'The provider refused an option that the client set.', false, 'answered'),
  row('error', 'internal_error', 'An internal error of the gateway.', false, 'finals'),
] as const satisfies readonly SessionEndRow[];

type Row = (typeof SESSION_ENDS)[number];
/** Codes with which a session may end after its last final. */
export type OrderlyCode = Exclude<Extract<Row, { inOrder: true }>['code'], null>;
/** Codes with which a session may be ended at once. */
export type AbortCode = Exclude<Extract<Row, { cut: CutCharge }>['code'], null>;

/** What is billed of a session that ends so while audio is owed its final. */
export function cutChargeOf(reason: SessionEndReason, code: string | null): CutCharge {
  const found = SESSION_ENDS.find((end) => end.reason === reason && end.code === code);
  // An end that waits for its finals and did not get them is the provider's doing.
  return found?.cut ?? 'finals';
}

interface EndRow {
  /** What has happened. */
  readonly when: string;
  /** As the ledger writes it; null where it has no session for it. */
  readonly reason: string | null;
  readonly billed: string;
  readonly told: string;
}

/** Ends of which no session decides, for docs/reference/ends.md. */
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

/** Ends of files, for the same page. */
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
