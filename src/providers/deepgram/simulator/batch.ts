// A simulated `POST /v1/listen`: a file is heard as a whole, and told in channels, utterances and words.
import type { HeardTurn, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../../simulation.ts';
import { wireWords } from './words.ts';

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
  try {
    const { seconds, turns } = await tools.transcribe(body, query.get('language') ?? undefined);
    return { status: 200, body: answer(query, model, `request-${tools.newId()}`, seconds, turns) };
  } catch {
    return { fault: 'Bad Request: failed to process audio: corrupt or unsupported data.' };
  }
}

function answer(query: URLSearchParams, model: string, requestId: string, seconds: number, turns: HeardTurn[]) {
  const isDiarized = query.has('diarize_model') || query.get('diarize') === 'true';
  const detects = query.has('detect_language') && query.get('detect_language') !== 'false';
  const told = turns.map((turn, index) => ({
    ...turn,
    words: wireWords(turn, isDiarized ? { speaker: index % 2 } : {}),
    speaker: index % 2,
  }));
  const transcript = turns.map(({ text }) => text).join(' ');
  const alternative = { transcript, confidence: confidenceOf(turns), words: told.flatMap(({ words }) => words) };
  const detected = detects ? { detected_language: 'en', language_confidence: 0.99 } : {};
  const utterances = told.map(({ text, start, end, confidence, words, speaker }, index) => ({
    ...{ start, end, confidence, channel: 0, transcript: text, words, id: `${requestId}-${index}` },
    ...(isDiarized ? { speaker } : {}),
  }));
  return {
    metadata: {
      transaction_key: 'deprecated',
      request_id: requestId,
      sha256: '0'.repeat(64),
      created: '2026-01-01T00:00:00.000Z',
      duration: seconds,
      channels: 1,
      models: ['simulated'],
      model_info: { simulated: { name: model, version: 'simulated', arch: model } },
    },
    results: {
      channels: [{ alternatives: [alternative], ...detected }],
      ...(query.get('utterances') === 'true' ? { utterances } : {}),
    },
  };
}

function confidenceOf(turns: readonly HeardTurn[]): number {
  return turns.length === 0 ? 0 : turns.reduce((sum, { confidence }) => sum + confidence, 0) / turns.length;
}
