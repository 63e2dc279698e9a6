// ElevenLabs as its clients meet it: who is let in, where requests go, and how it refuses. Sessions are live.ts, files files.ts.

import type { ProviderSimulator, SimulatedAnswer } from '../../kit/simulation.ts';
import { type KeyFault, keyFault } from '../../kit/simulator/credentials.ts';
import { ok, routed } from '../../kit/simulator/routes.ts';
import { errorMessage } from '../messages.ts';
import { answerFile, refusal } from './files.ts';
import { refusedSession, ScribeSession, sessionFault } from './live.ts';

const ANSWERS: Readonly<Record<KeyFault, SimulatedAnswer>> = {
  missing: refusal(401, 'needs_authorization', 'Neither authorization header nor xi-api-key received.'),
  bad: refusal(401, 'invalid_api_key', 'Invalid API key'),
  broke: refusal(401, 'quota_exceeded', 'This request exceeds your quota.'),
  limited: {
    ...refusal(429, 'too_many_concurrent_requests', 'Too many concurrent requests.'),
    headers: { 'retry-after': '5' },
  },
};
/** On a connection, which is accepted first. */
const ERRORS: Readonly<Record<KeyFault, string>> = {
  missing: 'auth_error',
  bad: 'auth_error',
  broke: 'quota_exceeded',
  limited: 'rate_limited',
};

export const simulator: ProviderSimulator = {
  provider: 'elevenlabs',
  quirks: {
    'words-first': 'a commit is answered with its words before the text alone',
    'words-late': '<ms>: the words of a commit come so many milliseconds behind its text; 500 when no number is given',
    'no-words': 'a commit is answered with its text alone, whatever was asked for',
    'session-limit': '<seconds>: the session ends at its limit after so much audio; 1 when no number is given',
  },
  refusal: (status) => (status === 401 ? ANSWERS.bad : status === 429 ? ANSWERS.limited : refusal(status)),
  failure: () => ({
    messages: [errorMessage('transcriber_error', 'Transcription failed.')],
    close: { code: 1011, reason: 'transcriber_error' },
  }),
  isFinal: ({ message_type }) => String(message_type).startsWith('committed_transcript'),

  upgrade({ url, headers }, tools) {
    if (url.pathname !== '/v1/speech-to-text/realtime') return { refuse: refusal(404) };
    const key = keyFault(headers['xi-api-key'] ?? url.searchParams.get('token') ?? undefined);
    const fault = sessionFault(url.searchParams);
    return {
      connect(peer) {
        if (key !== undefined)
          return refusedSession(peer, ERRORS[key], 'You must be authenticated to use this endpoint.');
        if (fault !== undefined) return refusedSession(peer, 'invalid_request', fault);
        return new ScribeSession(peer, tools, url.searchParams);
      },
    };
  },

  async http(request, tools) {
    const key = keyFault(request.headers['xi-api-key']);
    if (key !== undefined) return request.url.pathname.startsWith('/v1/') ? ANSWERS[key] : refusal(404);
    const answer = await routed(request, {
      'GET /v1/models': () => ok([{ model_id: 'scribe_v2' }]),
      'POST /v1/single-use-token/realtime_scribe': () => ok({ token: `sutkn_${tools.newId()}` }),
      'POST /v1/speech-to-text': () => answerFile(request, tools),
    });
    return answer ?? refusal(404);
  },
};
