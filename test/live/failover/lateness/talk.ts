// Talk with ordinary pauses, played to a session whose first provider is lost in the middle of it; and what holds then: nothing is
// lost or said twice, every time is that of the talk, and the session is on time again.
import { expect } from 'vitest';
import type { Random } from '../../../fakes/random.ts';
import { type Caller, expectAllHeard, Incident, toldAt } from '../incident.ts';
import { providerOf } from '../protocols.ts';
import type { SpokenTurn } from '../spoken.ts';

const NOVA = 'deepgram/nova-3';
const FLUX = 'deepgram/flux-general-en';
export const STREAMING = 'assemblyai/universal-streaming-english';
export const UNIVERSAL_3 = 'assemblyai/u3-rt-pro';
export const OPENAI = 'openai/gpt-4o-transcribe';
/** From one provider to the other in both directions, each protocol and each regime of turns once on either side. */
export const CHAINS: readonly (readonly [from: string, to: string])[] = [
  [NOVA, STREAMING],
  [STREAMING, NOVA],
  [NOVA, UNIVERSAL_3],
  [UNIVERSAL_3, FLUX],
  [FLUX, STREAMING],
];

/** What a session may be late by once it has caught up, and what it is granted for that. */
const LATE_SECONDS_MAX = 1;
const CATCHING_UP_SECONDS = 5;
/** An ear wants so much silence to end a turn, and messages are on their way for so long. */
const ON_TIME_SECONDS = 0.35;
/** A session that is late sends so much of each pause: the fading sound of the word, 300 ms of silence, and the rest of a frame. */
const PAUSE_SENT_SECONDS = 0.1 + 0.3 + 0.05;
/** How many times faster than it is spoken the fallbacks of all chains take audio. */
const PACE = 1.25;
/** To connect, what is sent before the first word and after the last, and what a session that counts as on time is late by. */
const SLACK_SECONDS = 0.7;
/** Providers tell times in milliseconds. */
const ROUNDING_SECONDS = 0.002;

interface PauseSeconds {
  least: number;
  most: number;
}
const ORDINARY: PauseSeconds = { least: 0.7, most: 1.5 };
/** From pauses that are sent as they are to long ones. */
export const ANY_PAUSE: PauseSeconds = { least: 0.3, most: 1.7 };

/** Words with pauses, each of which sounds a little longer than a provider says. */
export const talk = (random: Random, words: number, { least, most } = ORDINARY): SpokenTurn[] =>
  Array.from({ length: words }, (_, index) => ({
    text: `Word${index}.`,
    seconds: 0.5 + random.next(),
    pauseSeconds: least + (most - least) * random.next(),
    tailSeconds: 0.1,
  }));

/** A word in its place, and how much later than usual it was told, in seconds. */
export interface SaidWord {
  start: number;
  end: number;
  late: number;
}

export interface PlayedTalk {
  words: SaidWord[];
  /** When the client was told of the failover. */
  failoverAt: number;
}

/** Plays it to the end, with a fault of each provider but the last; once lost, none can be reached again. */
export async function playTalk(
  chain: readonly string[],
  lossesInOrder: readonly string[],
  turns: readonly SpokenTurn[],
): Promise<PlayedTalk> {
  const losses = lossesInOrder.map((fault, index) => ({ provider: providerOf(chain[index] as string), fault }));
  const incident = new Incident({
    turns,
    faults: Object.fromEntries(losses.map(({ provider, fault }) => [provider, [fault]])),
    dials: Object.fromEntries(losses.map(({ provider }) => [provider, ['none', 'refuse']])),
  });
  const caller = await incident.play(chain);
  await incident.close();
  expectAllHeard(caller, incident);
  expect(caller.client.of('failover').map(({ to }) => to)).toEqual(chain.slice(1));
  const words = saidIn(turns, caller);
  expect(misplacedIn(words, caller)).toEqual([]);
  return { words, failoverAt: toldAt(caller, 'failover') / 1_000 };
}

/** Those words are told in time that were said so long after the failover. */
export function expectOnTime({ words, failoverAt }: PlayedTalk, withinSeconds = CATCHING_UP_SECONDS): void {
  const later = words.filter(({ end }) => end > failoverAt + withinSeconds);
  expect(later.length).toBeGreaterThan(1);
  expect(later.filter(({ late }) => !(late < LATE_SECONDS_MAX))).toEqual([]);
}

/**
 * No word is later than the pace of the fallback explains: it needs as long as the audio since the beginning of the unfinished turn
 * lasts, with the rest of each pause left out, divided by its pace.
 */
export function expectWithinPace({ words, failoverAt }: PlayedTalk): void {
  let audioSeconds = 0;
  const excess = words.flatMap(({ start, end, late }, index) => {
    if (end + late + ON_TIME_SECONDS <= failoverAt) return [];
    audioSeconds += end - start;
    const boundSeconds = Math.max(0, audioSeconds / PACE - (end - failoverAt)) + SLACK_SECONDS;
    audioSeconds += Math.min((words[index + 1]?.start ?? end) - end, PAUSE_SENT_SECONDS);
    return late <= boundSeconds ? [] : [{ end, late, boundSeconds }];
  });
  expect(excess).toEqual([]);
}

function saidIn(turns: readonly SpokenTurn[], { told }: Caller): SaidWord[] {
  let at = 0;
  return turns.map(({ text, seconds, pauseSeconds }) => {
    const start = at;
    const end = start + seconds;
    at = end + pauseSeconds;
    const final = told.find(({ event }) => event.type === 'transcript' && event.is_final && event.text === text);
    return { start, end, late: (final?.atMs ?? Number.NaN) / 1_000 - end - ON_TIME_SECONDS };
  });
}

/** Finals that do not say of their word where it was. */
function misplacedIn(said: readonly SaidWord[], { client }: Caller): unknown[] {
  const finals = client.finals.filter(({ text }) => text !== '');
  return finals.filter(({ start, words = [] }, index) => {
    const { start: from, end: to } = said[index] as SaidWord;
    const off = [start - from, ...words.flatMap((word) => [word.start - from, word.end - to])];
    return off.some((seconds) => Math.abs(seconds) > ROUNDING_SECONDS);
  });
}
