// Calls of Vonage, by its WebSockets: samples in binary messages, and what the call is in the first text.
// https://developer.vonage.com/en/voice/voice-api/guides/websockets

import type { Conversation, Step } from '../compat/dialect.ts';
import { type JsonObject, objectOf, textIn } from '../kit/json.ts';
import { callStep, KEY_PARAMETER, TEXT_BYTES_MAX, TOLD_NOTHING, unsupported } from './call-start.ts';
import { telephone } from './carriers.ts';

const CONNECTED = 'websocket:connected';
const SHAPE = `A text message is JSON with \`event\`: "${CONNECTED}" first, and later others of Vonage; audio comes in binary messages.`;

class VonageCall implements Conversation {
  readonly textBytesMax = TEXT_BYTES_MAX;
  readonly encode = TOLD_NOTHING.encode;
  readonly close = TOLD_NOTHING.close;
  readonly refused = TOLD_NOTHING.refused;
  readonly #query: URLSearchParams;
  #hasStarted = false;

  constructor(query: URLSearchParams) {
    this.#query = query;
  }

  *text(text: string): Iterable<Step> {
    const message = objectOf(text);
    const event = textIn(message.event);
    if (event === CONNECTED && !this.#hasStarted) yield this.#start(message);
    else if (event?.startsWith('websocket:') !== true) yield { type: 'fault', message: SHAPE };
  }

  *binary(bytes: Uint8Array): Iterable<Step> {
    yield { type: 'audio', bytes };
  }

  #start({ event: _, 'content-type': contentType = 'audio/l16;rate=16000', ...custom }: JsonObject): Step {
    this.#hasStarted = true;
    const { call_uuid, uuid, conversation_uuid, ...own } = custom;
    const asked = new Map<string, unknown>([...this.#query, ...Object.entries(own)]);
    return callStep({ carrier: 'vonage', ids: [call_uuid, uuid, conversation_uuid] }, asked, () => {
      const rate = /^audio\/l16; ?rate=(8000|16000|24000)$/.exec(String(contentType))?.[1];
      if (rate === undefined) throw unsupported(contentType, 'audio/l16 with a rate of 8000, 16000 or 24000');
      return { encoding: 'linear16', sampleRate: Number(rate), channels: 1 };
    });
  }
}

export const vonage = telephone('vonage', 'Vonage', {
  '/media': {
    open: ({ query }) => new VonageCall(query),
    refused: TOLD_NOTHING.refused,
    late: (text) => {
      const { event, [KEY_PARAMETER]: credential } = objectOf(text);
      return event === CONNECTED ? { credential: textIn(credential) } : undefined;
    },
  },
});
