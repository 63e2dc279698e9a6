// A simulated `POST /v1/listen`: a file is heard as a whole, and told in channels, utterances and words.
import { confidenceOf, textOf } from '../../kit/simulator/words.ts';
import type { HeardTurn, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { metadata, wireWords } from './wire.ts';

/** The answer, or what is wrong with the request. */
export async function transcribeFile(
  { url, headers, body }: SimulatedRequest,
  tools: SimulatorTools,
): Promise<SimulatedAnswer | { fault: string }> {
  const query = url.searchParams;
  const model = query.get('model') ?? 'base-general';
  if (!/^(?:nova|enhanced|base|whisper)/.test(model)) return { fault: `Bad Request: no such model: ${model}.` };
  if (model.startsWith('nova-3') && query.has('keywords')) return { fault: 'Keywords are not supported for Nova-3.' };
  if (headers['content-type']?.startsWith('application/json')) return { fault: 'The simulator fetches no URLs.' };
  const heard = await tools.transcribe(body, query.get('language') ?? undefined).catch(() => undefined);
  if (heard === undefined) return { fault: 'Bad Request: failed to process audio: corrupt or unsupported data.' };
  const requestId = `request-${tools.newId()}`;
  const models = {
    models: ['simulated'],
    model_info: { simulated: { name: model, version: 'simulated', arch: model } },
  };
  const results = resultsOf(query, requestId, heard.turns);
  return { status: 200, body: { metadata: { ...metadata(requestId, heard.seconds), ...models }, results } };
}

/** Two speakers take turns, where speakers are asked for. */
function resultsOf(query: URLSearchParams, requestId: string, turns: readonly HeardTurn[]) {
  const isDiarized = query.has('diarize_model') || query.get('diarize') === 'true';
  const detects = query.has('detect_language') && query.get('detect_language') !== 'false';
  const utterances = turns.map((turn, index) => {
    const { text: transcript, start, end, confidence } = turn;
    const speaker = isDiarized ? { speaker: index % 2 } : {};
    const words = wireWords(turn, speaker);
    return { start, end, confidence, channel: 0, transcript, words, id: `${requestId}-${index}`, ...speaker };
  });
  const words = utterances.flatMap((utterance) => utterance.words);
  const alternative = { transcript: textOf(turns), confidence: confidenceOf(turns), words };
  const detected = detects ? { detected_language: 'en', language_confidence: 0.99 } : {};
  return {
    channels: [{ alternatives: [alternative], ...detected }],
    ...(query.get('utterances') === 'true' ? { utterances } : {}),
  };
}
