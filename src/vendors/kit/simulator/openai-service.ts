// A simulated service whose files are taken as OpenAI takes them: one form, one answer. What it takes, and in which words it
// refuses, is each service's own.

import type { TObject } from '@sinclair/typebox';
import type { JsonObject } from '../json.ts';
import { authorizationOf } from '../offered-keys.ts';
import type { ProviderSimulator, SimulatedAnswer, SimulatedRequest, SimulatorTools } from '../simulation.ts';
import { faultIn, fileIn, formOf, type ValueFault, valuesOf } from './checks.ts';
import { type KeyFault, keyFault } from './credentials.ts';
import { answerIn, type FileAnswer } from './openai-answers.ts';
import { ok, routed } from './routes.ts';

interface FileService {
  form: TObject;
  /** What is wrong with a form beside its members. */
  rule?(asked: JsonObject): SimulatedAnswer | undefined;
  bytesMax?: number;
  /** `response_format` where none is requested. */
  format?: string;
  refusals: {
    tooLarge?: SimulatedAnswer;
    faulty(fault: ValueFault, asked: JsonObject): SimulatedAnswer;
    unreadable: SimulatedAnswer;
  };
  /** As the service words it; OpenAI's way where it is absent. */
  answer?(heard: FileAnswer, asked: JsonObject, tools: SimulatorTools): SimulatedAnswer;
}

interface Service extends Pick<ProviderSimulator, 'provider' | 'refusal'> {
  /** What stands before the paths; a configured base may leave it out. */
  base: string;
  /** Further paths for files. */
  paths?: readonly string[];
  /** What a bad key is answered with; nothing where it is let in. */
  keyRefusal(fault: KeyFault): SimulatedAnswer | undefined;
  files: FileService;
}

/** The simulator of a service for files; one with live sessions has further members of its own. */
export function openaiShapedSimulator(service: Service): ProviderSimulator {
  const { provider, base, paths = [], keyRefusal, refusal, files } = service;
  const list = () => ok({ object: 'list', data: [] });
  return {
    provider,
    quirks: {},
    refusal,
    failure: () => ({ messages: [], close: { code: 1011, reason: '' } }),
    isFinal: () => false,
    upgrade: () => ({ refuse: refusal(404) }),

    async http(request, tools) {
      const refused = keyRefused(request, keyRefusal);
      if (refused !== undefined) return refused;
      const transcribe = () => answerForm(request, tools, files);
      const answer = await routed(request, {
        'GET /models': list,
        [`GET ${base}/models`]: list,
        'POST /audio/transcriptions': transcribe,
        [`POST ${base}/audio/transcriptions`]: transcribe,
        ...Object.fromEntries(paths.map((path) => [`POST ${path}`, transcribe])),
      });
      return answer ?? refusal(404);
    },
  };
}

/** The refusal of the key that a request shows; undefined where it is let in. */
export function keyRefused(request: SimulatedRequest, keyRefusal: Service['keyRefusal']): SimulatedAnswer | undefined {
  const fault = keyFault(authorizationOf(request.headers.authorization));
  return fault && keyRefusal(fault);
}

async function answerForm(
  request: SimulatedRequest,
  tools: SimulatorTools,
  service: FileService,
): Promise<SimulatedAnswer> {
  const { form: schema, bytesMax = Number.POSITIVE_INFINITY, format = 'json', refusals, answer = answerIn } = service;
  if (request.body.length > bytesMax) return refusals.tooLarge ?? { status: 413 };
  const form = (await formOf(request)) ?? new FormData();
  const asked = valuesOf(form, schema);
  const fault = faultIn(schema, asked);
  const refused = fault === undefined ? service.rule?.(asked) : refusals.faulty(fault, asked);
  if (refused !== undefined) return refused;
  const file = (await fileIn(form, 'file')) ?? new Uint8Array();
  const language = typeof asked.language === 'string' ? asked.language : undefined;
  const heard = await tools.transcribe(file, language).catch(() => undefined);
  if (heard === undefined) return refusals.unreadable;
  const { response_format = format, timestamp_granularities: times } = asked;
  const wordTimes = Array.isArray(times) && times.includes('word');
  return answer(
    { format: String(response_format), language, speakers: ['A', 'B'], usage: {}, extras: {}, wordTimes, ...heard },
    asked,
    tools,
  );
}
