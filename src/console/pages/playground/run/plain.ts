// What went wrong in a run, as one sentence, and what to do about it.
import { VoxgateError } from '@voxgate/client';

const AGAIN = 'The transcript so far is kept here. Start again at any time: that is a new session.';

const SENTENCES: Readonly<Record<string, string>> = {
  microphone_denied:
    'The browser does not let this page use the microphone. Allow it in the site settings next to the address and press Speak again, or play the sample.',
  microphone_missing: 'No microphone was found. Connect one and press Speak again, or play the sample or a file.',
  microphone_busy: 'The microphone cannot be read: another program may have it. Close that and press Speak again.',
  connection_failed: `The gateway could not be reached. ${AGAIN}`,
  connection_lost: `The connection to the gateway was lost, and could not be made again. ${AGAIN}`,
  timeout: `The gateway did not answer in time. ${AGAIN}`,
  token_expired: `The token of this page was too old when the session was opened. ${AGAIN}`,
};

export function plain(error: unknown): Error {
  if (!(error instanceof VoxgateError)) return error as Error;
  // The gateway's own words on why there is no token.
  if (error.code === 'token_unavailable' && error.cause instanceof Error) return error.cause;
  return new Error(SENTENCES[error.code] ?? error.message);
}

const ENDS: Readonly<Record<string, string>> = {
  idle: 'The gateway ended the session: no audio came for a while.',
  too_long: 'The gateway ended the session: it reached its longest duration.',
  credit: 'The gateway ended the session: no credit is left. Add credit, or choose a model that is free.',
  ledger: 'The gateway ended the session: it cannot reach its accounts at the moment.',
  upstream:
    'The gateway ended the session: no model of the list could continue. Add a fallback, or choose another model.',
  draining: 'The gateway ended the session: this node is being shut down. Begin again; another node answers.',
};

/** Why a session ended that the reader has not ended; undefined where nothing needs to be said. */
export const endOf = (reason: string): string | undefined => ENDS[reason];
