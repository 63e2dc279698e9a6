// What a session asks of Azure: the query, who speaks, and the context of each request. The query and the context say the same, as the
// official client's do.
import type { ConnectionName, LegRequest } from '../kit/provider.ts';
import type { RequestName } from './frames.ts';
import { localeOf } from './models.ts';
import { options } from './options.ts';

/** What ends a turn where nothing is asked for. */
const PAUSE_MS = 650;
/** A turn that ends by its meaning may wait longer. */
const SEMANTIC_PAUSE_MS = 2_000;
const MODES = { Default: 'Normal', Time: 'Custom', Semantic: 'Semantic' } as const;

/** Silence that ends a turn. */
export function pauseOf({ model, params }: LegRequest): number {
  const { segmentation_silence_ms, segmentation_strategy } = options.honoured(params, model, 'live');
  return segmentation_silence_ms ?? (segmentation_strategy === 'Semantic' ? SEMANTIC_PAUSE_MS : PAUSE_MS);
}

/** The name of a connection's request, by its number and by what was sent before it. */
export const nameOf = ({ id, wallMs }: ConnectionName, count: number, sentSeconds: number): RequestName => ({
  id: `${id.slice(0, 24)}${count.toString(16).padStart(8, '0')}`.toUpperCase(),
  at: new Date(wallMs + sentSeconds * 1_000).toISOString(),
});

/** Who speaks, and what it is sent. */
export const configOf = ({ sampleRate: samplerate }: LegRequest) => ({
  context: {
    system: { name: 'Voxgate', version: '1', build: 'JavaScript', lang: 'JavaScript' },
    os: { platform: 'Node', name: 'Voxgate', version: '1' },
    audio: {
      source: {
        ...{ bitspersample: 16, channelcount: 1, connectivity: 'Unknown', manufacturer: 'Voxgate', model: 'Voxgate' },
        ...{ samplerate, type: 'Stream' },
      },
    },
  },
  recognition: 'conversation',
});

export function queryOf({ model, language, params, access }: LegRequest) {
  const { true_text } = options.honoured(params, model, 'live');
  return {
    language: localeOf(language) ?? 'en-US',
    format: 'detailed',
    wordLevelTimestamps: true,
    postprocessing: true_text === true ? 'TrueText' : undefined,
    cid: access.fields?.endpoint_id,
    ...options.wire(params, model, 'live'),
  };
}

/** The context of a request. */
export function contextOf({ language, model, params }: LegRequest) {
  const { phrases, segmentation_silence_ms, segmentation_strategy } = options.honoured(params, model, 'live');
  const byStrategy = MODES[segmentation_strategy ?? 'Default'];
  const segmentation =
    segmentation_silence_ms === undefined
      ? { mode: byStrategy }
      : { mode: 'Custom', segmentationSilenceTimeoutMs: segmentation_silence_ms };
  const items = phrases?.map((text) => ({ text }));
  return {
    phraseDetection: {
      language: localeOf(language) ?? 'en-US',
      mode: 'Conversation',
      conversation: { segmentation },
    },
    phraseOutput: { format: 'Detailed', detailed: { options: ['WordTimings'] } },
    ...(items === undefined ? {} : { dgi: { groups: [{ type: 'Generic', items }], bias: 1 } }),
  };
}
