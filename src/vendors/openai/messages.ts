// What OpenAI's Realtime service sends of a transcription session: built here for the gateway's own clients of OpenAI, and for the
// simulator. Each is the members of an event, beside its type and id. https://developers.openai.com/api/docs/guides/realtime-transcription
import type { JsonObject } from '../kit/json.ts';

export const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

/** The session as its client sees it. */
export const sessionMessage = (id: string, input: object): JsonObject => ({
  ...{ type: 'transcription', object: 'realtime.transcription_session', id, audio: { input }, include: null },
});

/** Turn detection of a session that nobody has configured. */
export const SERVER_VAD = { type: 'server_vad', threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 200 };

export const speechStarted = (itemId: string, ms: number) => ({ audio_start_ms: ms, item_id: itemId });

export const speechStopped = (itemId: string, ms: number) => ({ audio_end_ms: ms, item_id: itemId });

/** A committed item: what `input_audio_buffer.committed` says of it, and what each event of the conversation does. */
export const committedItem = (id: string, previous_item_id: string | null) => ({
  committed: { item_id: id, previous_item_id },
  created: {
    previous_item_id,
    item: {
      ...{ id, object: 'realtime.item', type: 'message', status: 'completed', role: 'user' },
      content: [{ type: 'input_audio', transcript: null }],
    },
  },
});

export const delta = (itemId: string, text: string) => ({ item_id: itemId, content_index: 0, delta: text });

export const completed = (itemId: string, transcript: string, usage: object, language: string | undefined) => ({
  ...{ item_id: itemId, content_index: 0, transcript, usage },
  ...(language === undefined ? {} : { languages: [{ code: language }] }),
});

export const failed = (itemId: string, error: object) => ({ item_id: itemId, content_index: 0, error });

export const secretMessage = (value: string, expiresAt: number) => ({ value, expires_at: expiresAt });

/** The texts of an item, one after another. */
export const joined = (before: string, text: string): string =>
  before === '' || text === '' ? before + text : `${before} ${text}`;
