// The embedded recogniser's codec. Its messages are those of a stream in src/recogniser; they are read here as any
// provider's would be.
import type { Heard, Utterance } from '../../../machines/events.ts';
import { ended, partial } from '../kit/heard.ts';
import type { Incoming, LegRequest, LiveCodec } from '../kit/provider.ts';
import { liveTiming } from '../kit/timing.ts';
import { failures } from './failures.ts';
import { BUILT_IN_GRAMMARS } from './grammars.ts';
import { ENDPOINTING_MS } from './models.ts';
import type { LocalModel } from './own-model.ts';

/** Below it, what was said is as likely something else (`confidenceOf` of the recogniser). */
const LIKELY = 0.5;

interface State {
  finishing: boolean;
  /** Undefined where the model knows several, and nobody said which is spoken. */
  language: string | undefined;
  /** What it listens for, as a warning names it; undefined where anything may be said. */
  expected: string | undefined;
}

/** What a stream says. */
type Message =
  | { type: 'ready' | 'finished' }
  | { type: 'speech_started'; start: number }
  | { type: 'interim'; turn: number; text: string; start: number; end: number }
  | ({ type: 'final'; turn: number; estimated?: true } & Utterance)
  | { type: 'no_match'; turn: number; start: number; end: number }
  | { type: 'warning' | 'error'; code: string; message: string };

/** The text of a grammar is looked at each 100 ms; smaller frames would only cost more. */
const GRAMMAR_FRAME = { minMs: 100, idealMs: 100 };
/** Voices are looked for in each 32 ms. */
const DICTATION_FRAME = { minMs: 32, idealMs: 32 };

export const live: LiveCodec<State> = {
  timing: ({ model, params }) =>
    liveTiming({
      frame: { ...(isGrammar(model) ? GRAMMAR_FRAME : DICTATION_FRAME), maxMs: 1_000, tail: 'short' },
      // A backlog is worked off faster than real time, but one session may not take all threads for itself.
      speedMax: 8,
      burstMs: 2_000,
      // Turns of grammars end by 300 ms that are mostly silence; an aligned text is one turn, whatever its pauses.
      turnPauseMs: isGrammar(model)
        ? params.align_text === undefined
          ? 400
          : Number.POSITIVE_INFINITY
        : endpointingOf(params),
      // The first stream of a thread waits until the models are loaded.
      readyMs: 20_000,
      drainMs: 20_000,
      // It runs in this process and says nothing about noise: silence is no sign of a stall.
      stallMs: Number.POSITIVE_INFINITY,
    }),

  open: (request: LegRequest) => ({
    state: {
      finishing: false,
      language: isGrammar(request.model) ? languageOf(request.model) : (request.language ?? 'en'),
      expected: expectedOf(request),
    },
    endpoint: { kind: 'embedded', engine: 'local', query: queryOf(request) },
    hello: [],
  }),

  audio: (_, frame) => frame,

  read: (state, message: Incoming) => {
    if (!('json' in message) || typeof message.json !== 'object' || message.json === null) return [];
    return heard(message.json as Message, state);
  },

  finalize: () => [{ type: 'send', frame: { type: 'finalize' } }],

  finish: (state) => {
    state.finishing = true;
    return [{ type: 'send', frame: { type: 'finish' } }];
  },

  keepAlive: () => [],

  closed: ({ finishing }, code) => failures.heardOfClose(code, '', { finishing }),
};

/** For a model of the operator's own: what it hears is in its language, as far as it has one alone. */
export function liveOf({ languages }: LocalModel): LiveCodec<State> {
  const [only, ...others] = languages;
  const language = others.length === 0 && only !== '*' ? only : undefined;
  return {
    ...live,
    open: (request) => {
      const { state, ...opening } = live.open(request);
      return { ...opening, state: { ...state, language: request.language ?? language } };
    },
  };
}

function heard(message: Message, { language, expected }: State): Heard[] {
  const spoken = language === undefined ? {} : { language };
  switch (message.type) {
    case 'ready':
    case 'finished':
      return [{ type: message.type }];
    case 'speech_started':
      return [{ type: 'speech.started', start: message.start }];
    case 'interim': {
      const { turn, text, start, end } = message;
      return [partial(turn, { text, start, end, ...spoken })];
    }
    case 'final': {
      const { type: _, turn, estimated, ...utterance } = message;
      const isUnlikely = expected !== undefined && (utterance.confidence ?? 1) < LIKELY;
      const warnings = [...(isUnlikely ? [unexpected(expected)] : []), ...(estimated ? [wordsEstimated] : [])];
      return [ended(turn, { ...utterance, ...spoken }), ...warnings];
    }
    case 'no_match': {
      const { turn, start, end } = message;
      return [ended(turn, { text: '', start, end }), ...(expected === undefined ? [] : [unexpected(expected)])];
    }
    case 'warning':
      return [{ type: 'warned', code: message.code, message: message.message }];
    case 'error':
      return failures.heardOfError(message.code, message.message);
    default:
      return [];
  }
}

/** Most often somebody speaks freely, and is to learn what that takes. */
const unexpected = (expected: string): Heard => ({
  type: 'warned',
  code: 'no_open_dictation',
  message: `What was said hardly fits ${expected}, which is all that this model listens for. Use \`local/dictation-en\` for open English speech, or a provider's model. See /docs/guides/first-transcription.`,
  once: true,
});

const wordsEstimated: Heard = {
  type: 'warned',
  code: 'words_estimated',
  message:
    'The times of words are estimated: this model gives none, so its words are spread over the time in which a voice is heard.',
  once: true,
};

export const isGrammar = (model: string): boolean => /^(?:commands|digits|align)-(?:en|fr)$/.test(model);

const endpointingOf = (params: LegRequest['params']): number =>
  typeof params.endpointing === 'number' ? params.endpointing : ENDPOINTING_MS;

function expectedOf({ model, params }: LegRequest): string | undefined {
  if (!isGrammar(model)) return undefined;
  return params.align_text === undefined ? 'the words of its grammar' : 'the words of `align_text`';
}

function queryOf(request: LegRequest): Readonly<Record<string, unknown>> {
  const { model, params, language, interimResults: interims, sampleRate } = request;
  if (isGrammar(model)) return { language: languageOf(model), task: taskOf(request), interims };
  return {
    task: { kind: 'dictation', model, endpointingMs: endpointingOf(params), language: baseOf(language) },
    interims,
    ...rateOf(sampleRate),
  };
}

/** Speech models know no regions. */
const baseOf = (language: string | undefined) => language?.split('-')[0]?.toLowerCase();

/** Of most streams it is the recogniser's own. */
const rateOf = (sampleRate: number) => (sampleRate === 16_000 ? {} : { sampleRate });

/** `commands-en` and the like end in their language. */
const languageOf = (model: string): string => model.slice(model.lastIndexOf('-') + 1);

function taskOf({ model, params }: LegRequest): { kind: 'grammar' | 'align'; text: string; builtIn: boolean } {
  const { align_text: alignText, grammar } = params;
  if (typeof alignText === 'string') return { kind: 'align', text: alignText, builtIn: false };
  if (typeof grammar === 'string') return { kind: 'grammar', text: grammar, builtIn: false };
  return { kind: 'grammar', text: BUILT_IN_GRAMMARS.get(model) ?? '', builtIn: true };
}
