// Whether what came from another node is what a session and its leg say to each other. Members that are not known here are
// left alone, so that a newer node may say more; a message that is not understood is dropped, and fails nothing.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { TypeCompiler } from '@sinclair/typebox/compiler';
import type { FarCommand, FarReport, LegOpened, LegRefused, OpenLeg } from '../../../../machines/events.ts';
import { providerOf } from '../../../api/slug.ts';
import type { LegNeeds } from '../../../cluster/placement.ts';
import { SERVICE_CREDENTIAL } from '../../failover/chain-credential.ts';

const TEXT_MAX = 65_536;
const WORDS_MAX = 20_000;

const Text = Type.String({ maxLength: TEXT_MAX });
const Name = Type.String({ minLength: 1, maxLength: 256 });
const Count = Type.Integer({ minimum: 0 });
const Seconds = Type.Number();
const AddressText = Type.String({ maxLength: 512, pattern: '^[^/]+/.+$' });
const optional = <Schema extends TSchema>(schema: Schema) => Type.Optional(schema);

const Failure = Type.Object({
  kind: Type.Union(['retry', 'next', 'account', 'caller'].map((kind) => Type.Literal(kind))),
  reason: Type.Union(
    ['upstream_closed', 'upstream_error', 'connect_failed', 'connect_timeout', 'stalled', 'circuit_open'].map((name) =>
      Type.Literal(name),
    ),
  ),
  code: Name,
  lasting: optional(Type.Literal(true)),
  message: Text,
  retryAfterMs: optional(Type.Number({ minimum: 0 })),
  own: optional(Type.Literal(true)),
  ownKey: optional(Text),
});

const Word = Type.Object({
  word: Text,
  start: Seconds,
  end: Seconds,
  confidence: optional(Type.Number()),
  speaker: optional(Count),
});

const Utterance = Type.Object({
  text: Text,
  start: Seconds,
  end: Seconds,
  confidence: optional(Type.Number()),
  speaker: optional(Count),
  language: optional(Name),
  words: optional(Type.Array(Word, { maxItems: WORDS_MAX })),
  noSpeech: optional(Type.Literal(true)),
});

const ofTurn = { turnId: Type.String({ maxLength: 1_024 }), utterance: Utterance };
const HEARD: Readonly<Record<string, TSchema>> = {
  'speech.started': Type.Object({ start: Seconds }),
  // Whatever a newer node calls its bounds: one that is not known here is none.
  partial: Type.Object({ ...ofTurn, boundary: optional(Name), endConfidence: optional(Type.Number()) }),
  piece: Type.Object(ofTurn),
  'turn.ended': Type.Object({
    ...ofTurn,
    utterance: optional(Utterance),
    formattedFollows: Type.Boolean(),
    endConfidence: optional(Type.Number()),
    noSpeech: optional(Type.Literal(true)),
  }),
  'turn.formatted': Type.Object(ofTurn),
  warned: Type.Object({ code: Name, message: Text, once: optional(Type.Literal(true)) }),
  reconfigured: Type.Object({ isInForce: Type.Boolean() }),
};

const head = { generation: Count, sequence: Count };
const REPORTS: Readonly<Record<string, TSchema>> = {
  'leg.ready': Type.Object(head),
  'leg.simulated': Type.Object(head),
  'leg.heard': Type.Object({ ...head, heard: Type.Object({ type: Name }) }),
  'leg.pressure': Type.Object({ ...head, high: Type.Boolean() }),
  'leg.overdue': Type.Object(head),
  'leg.failed': Type.Object({ ...head, failure: Failure }),
  'leg.finished': Type.Object(head),
  'leg.pulse': Type.Object({ ...head, audioBytes: Count }),
  'leg.expiring': Type.Object(head),
};

const Params = Type.Record(Type.String(), Type.Unknown());
const asked = { language: Type.Union([Name, Type.Null()]), diarization: Type.Boolean(), params: Params };

const numbered = Type.Object({ number: Count });
const COMMANDS: Readonly<Record<string, TSchema>> = {
  'leg.audio': Type.Object({ number: Count, sequence: Count }),
  'leg.finalize': numbered,
  'leg.reconfigure': Type.Object({ number: Count, ...asked }),
  'leg.finish': Type.Object({ number: Count, waitMs: optional(Count) }),
  'leg.stalled': numbered,
  'leg.break': Type.Object({
    number: Count,
    fault: Type.Union(['drop', 'stall', 'error'].map((fault) => Type.Literal(fault))),
  }),
  'leg.alive': numbered,
  // May be sent before the leg's address was known to the session: it needs no number.
  'leg.close': Type.Object({}),
};

const Open = Type.Object({
  type: Type.Literal('leg.open'),
  session: AddressText,
  sessionId: Name,
  generation: Count,
  slug: Name,
  sampleRate: Type.Integer({ minimum: 1, maximum: 1_000_000 }),
  interimResults: Type.Boolean(),
  ...asked,
  credentialId: Name,
  organisationId: Name,
  turnEvents: optional(Type.Literal(true)),
  speechGate: optional(Type.Union([Type.Literal('mark'), Type.Literal('drop')])),
  rule: optional(
    Type.Object({
      regions: Type.Union([Type.Array(Name, { maxItems: 100 }), Type.Null()]),
      retention: Type.Union([Type.Literal('none'), Type.Null()]),
    }),
  ),
  watched: optional(Type.Literal(true)),
});

const Opened = Type.Object({ type: Type.Literal('leg.opened'), leg: AddressText });

/** Whatever it is short of. */
const Refused = Type.Object({ type: Type.Literal('leg.refused') });

const checks = (schemas: Readonly<Record<string, TSchema>>) => {
  const compiled = new Map(Object.entries(schemas).map(([type, schema]) => [type, TypeCompiler.Compile(schema)]));
  /** Undefined for a type that is not known here. */
  return (body: { type: string }): boolean | undefined => compiled.get(body.type)?.Check(body);
};

const ofHeard = checks(HEARD);
const ofReport = checks(REPORTS);
const ofCommand = checks(COMMANDS);
const open = TypeCompiler.Compile(Open);
const opened = TypeCompiler.Compile(Opened);
const refused = TypeCompiler.Compile(Refused);

export const isOpenLeg = (body: { type: string }): body is OpenLeg => open.Check(body);
export const isLegOpened = (body: { type: string }): body is LegOpened => opened.Check(body);
export const isLegRefused = (body: { type: string }): body is LegRefused => refused.Check(body);

/** A report; what is heard in it may be of a kind that is not known here. */
export function isFarReport(body: { type: string }): body is FarReport {
  if (ofReport(body) !== true) return false;
  return body.type !== 'leg.heard' || ofHeard((body as { heard: { type: string } } & typeof body).heard) !== false;
}

export const isFarCommand = (body: { type: string }): body is FarCommand => ofCommand(body) === true;

/** What of a request for a leg decides which nodes can open it. */
export const needsOf = ({ slug, credentialId }: Pick<OpenLeg, 'slug' | 'credentialId'>): LegNeeds => ({
  provider: providerOf(slug),
  ownKey: credentialId !== SERVICE_CREDENTIAL,
});

/** How long a leg is watched after the last renewal. */
export const LEG_WATCH_MS = 10_000;

const Status = Type.String({ maxLength: 16 });

const WatchLeg = Type.Object({
  type: Type.Literal('leg.watch'),
  sessionId: Name,
  generation: Type.Integer({ minimum: 1 }),
  model: Name,
  /** False: it is watched no more. */
  on: Type.Boolean(),
});
export type WatchLeg = Static<typeof WatchLeg>;

const LegWatched = Type.Union([
  Type.Object({ type: Type.Literal('leg.watched'), value: Type.Unknown(), status: Status }),
  Type.Object({ type: Type.Literal('leg.unwatched') }),
]);
export type LegWatched = Static<typeof LegWatched>;

/** A step of the leg's chart, on the topic of its session. */
const LegStep = Type.Object({
  type: Type.Literal('leg.step'),
  generation: Type.Integer({ minimum: 1 }),
  /** The node that has the leg, and what the leg is a connection to. */
  node: Name,
  model: Name,
  /** The report that the step has told its session, which has come there before the step itself; 0 for none. */
  report: Type.Integer({ minimum: 0 }),
  event: Name,
  edges: Type.Array(Name, { maxItems: 64 }),
  through: Type.Array(Type.Unknown(), { maxItems: 64 }),
  value: Type.Unknown(),
  status: Status,
});
export type LegStep = Static<typeof LegStep>;

const watch = TypeCompiler.Compile(WatchLeg);
const watched = TypeCompiler.Compile(LegWatched);
const step = TypeCompiler.Compile(LegStep);

export const isWatchLeg = (body: { type: string }): body is WatchLeg => watch.Check(body);
export const isLegWatched = (body: { type: string }): body is LegWatched => watched.Check(body);
export const isLegStep = (body: { type: string }): body is LegStep => step.Check(body);
