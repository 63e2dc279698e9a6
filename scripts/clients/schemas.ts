// What the clients' types are made of: names for the schemas that validate, in the order in which they are declared.
import { type TSchema, Type } from '@sinclair/typebox';
import { ERROR_CATALOGUE } from '../../src/api/error-catalogue.ts';
import * as jobs from '../../src/api/jobs.ts';
import * as listen from '../../src/api/listen.ts';
import * as events from '../../src/api/listen-events.ts';
import * as models from '../../src/api/models.ts';
import * as tokens from '../../src/api/tokens.ts';
import * as transcriptions from '../../src/api/transcriptions.ts';
import * as usage from '../../src/api/usage.ts';
import { AskedOfModels } from '../../src/api/vocabulary.ts';

export type Named = readonly [name: string, schema: TSchema, what: string];

const AskedOfModel = AskedOfModels.items;

const literals = (values: readonly string[]): TSchema =>
  Type.Union([...new Set(values)].map((each) => Type.Literal(each)));

export const SHARED: readonly Named[] = [
  ['ErrorType', literals(Object.values(ERROR_CATALOGUE).map(({ type }) => type)), 'The closed set of `error.type`.'],
  [
    'ErrorCode',
    literals(Object.keys(ERROR_CATALOGUE)),
    'Every `error.code` of this version; later ones may have more.',
  ],
  ['Encoding', listen.Encoding, 'How audio of a live session is written; always mono, little-endian.'],
  ['ResponseFormat', transcriptions.ResponseFormat, 'The form of a transcription.'],
  ['Mode', models.Mode, 'How a model is used: with files, or live.'],
  ['Word', events.Word, 'A word with its times in seconds.'],
  [
    'AskedOtherwise',
    AskedOfModel.properties.mapped.items,
    'A member of the request that a model is not asked as it stands.',
  ],
  ['AskedOfModel', AskedOfModel, 'What a model is asked of what was asked for.'],
  ['UsageRow', events.SessionEnded.properties.usage.items, 'What one model heard, and what that costs.'],
];

export const TRANSCRIPTIONS: readonly Named[] = [
  ['Transcription', transcriptions.Transcription, 'The answer in the format `json`.'],
  ['Segment', transcriptions.Segment, 'A stretch of a transcription; times in seconds.'],
  ['VerboseTranscription', transcriptions.VerboseTranscription, 'The answer in the format `verbose_json`.'],
  [
    'DiarizedSegment',
    transcriptions.DiarizedSegment,
    'A stretch of a transcription with its speaker; times in seconds.',
  ],
  ['DiarizedTranscription', transcriptions.DiarizedTranscription, 'The answer in the format `diarized_json`.'],
  ['TranscriptDelta', transcriptions.TranscriptDelta, 'A further piece of a streamed transcription’s text.'],
  ['TranscriptSegment', transcriptions.TranscriptSegment, 'A segment of a streamed transcription with its speaker.'],
  ['TranscriptDone', transcriptions.TranscriptDone, 'The end of a streamed transcription.'],
  ['TranscriptionEvent', transcriptions.TranscriptEvent, 'What a streamed transcription is told in.'],
  ['JobStatus', jobs.JobStatus, 'How far a job is.'],
  ['Job', jobs.JobAnswer, 'A file that is transcribed in the background.'],
  ['JobList', jobs.JobList, 'A page of jobs, newest first.'],
];

export const ANSWERS: readonly Named[] = [
  ...SHARED,
  ['Price', models.Model.properties.pricing.properties.live, 'What a model costs in a mode.'],
  ['Model', models.Model, 'A model of the catalogue.'],
  ['Token', tokens.TokenResponse, 'A client token: opens live sessions until it expires.'],
  ['Usage', usage.UsageList, 'What an organisation has used.'],
  ['Balance', usage.BalanceAnswer, 'What an organisation has left.'],
];

export const EVENTS: readonly Named[] = [
  ['SessionStarted', events.SessionStarted, 'The session is open.'],
  ['SpeechStarted', events.SpeechStarted, 'Speech was heard; `start` in seconds of session audio.'],
  ['Transcript', events.Transcript, 'Text of a turn: any number of interims, then exactly one final.'],
  [
    'TurnEagerEnd',
    events.TurnEagerEnd,
    'The turn may be over with these words: `turn_ended` or `turn_resumed` follows.',
  ],
  ['TurnResumed', events.TurnResumed, 'The turn was not over at its last `turn_eager_end`, or not with these words.'],
  ['TurnEnded', events.TurnEnded, 'The turn is over: right behind its final.'],
  ['SpeakersRestarted', events.SpeakersRestarted, 'From there on the same people have new speaker numbers.'],
  ['Failover', events.Failover, 'Another model goes on with the session; no word is lost or doubled.'],
  ['Configured', events.Configured, 'What was asked for in mid-session is in force.'],
  ['Warning', events.Warning, 'Something was not done as asked; the session goes on.'],
  ['Discontinuity', events.Discontinuity, 'Seconds of audio that no final will cover, and why.'],
  ['ErrorEvent', events.ErrorEvent, 'Something went wrong.'],
  ['Received', events.Received, 'So much of the audio need not be sent again when the socket breaks.'],
  ['SessionResumed', events.SessionResumed, 'The session goes on with this socket: audio follows from there.'],
  ['SessionEnded', events.SessionEnded, 'The last event: what was heard and what it costs.'],
];
/** Members of every event. */
export const HEAD = ['session_id', 'seq', 'at'] as const;
