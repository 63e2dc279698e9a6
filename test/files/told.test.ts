// What is told of a file before its transcription is whole: each utterance once, when nothing about it can change, and only by
// the last model that is left; no attempt follows one that told anything.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Heard, LegFailure, Utterance } from '../../machines/events.ts';
import { ApiError } from '../../src/api/errors.ts';
import { FREE } from '../../src/config/prices/price-list.ts';
import { FileDecodings } from '../../src/files/decoding/decoding.ts';
import { transcribe } from '../../src/files/transcribe.ts';
import { HttpPools } from '../../src/live/upstream/http/pools.ts';
import { UpstreamHost } from '../../src/live/upstream/upstream-host.ts';
import { patientBreakers } from '../fakes/patient-breakers.ts';
import { settle } from '../fakes/session-rig.ts';
import { failure, Puppet, type PuppetConnection, puppetProvider } from '../live/session/puppet.ts';

const say = (text: string, start = 0): Utterance => ({ text, start, end: start + 1 });
const ended = (turnId: string, utterance: Utterance, formattedFollows = false): Heard => ({
  type: 'turn.ended',
  turnId,
  utterance,
  formattedFollows,
});
const failed = (kind: LegFailure['kind']): Heard => ({ type: 'failed', failure: failure(kind) });
const FINISHED: Heard = { type: 'finished' };

/** A job over a chain of puppets; its connections are those of the attempts, in their order. */
function job(...models: string[]) {
  const clock = new SimulatedClock();
  const puppet = new Puppet();
  const provider = puppetProvider({});
  const upstream = new UpstreamHost({
    providers: new Map([['puppet', provider]]),
    engines: { puppet },
    access: () => ({ baseUrl: undefined, credential: undefined }),
    clock,
  });
  const chain = models.map((slug) => ({
    slug,
    provider,
    card: provider.models.find(({ id }) => id === slug)!,
    params: {},
    credentialId: 'service',
    organisationId: 'org_1',
    own: false,
    price: FREE,
    sampleRate: 16_000,
    language: undefined,
    diarization: false,
    told: [],
    degradations: [],
  }));
  const told: string[] = [];
  async function* read() {
    yield new Uint8Array(3_200);
  }
  const whole = transcribe(
    {
      upstream,
      http: { pools: new HttpPools(), clock },
      breakers: patientBreakers(clock),
      decodings: new FileDecodings({ clock }),
    },
    {
      jobId: 'job_1',
      organisationId: 'org_1',
      request: {
        model: models[0]!,
        fallbacks: [],
        responseFormat: 'json',
        language: undefined,
        diarization: false,
        timestampGranularities: [],
        wordTimestamps: false,
        providerParams: {},
        stream: true,
        strict: false,
        common: {},
      },
      chain,
      file: { bytes: 3_200, rawSampleRate: 16_000, read },
      signal: new AbortController().signal,
      hearEmptyAgain: true,
      onUtterance: (utterance, member) => told.push(`${member.slug.slice(-1)} ${utterance.text}`),
    },
  );
  const outcome = whole.then(
    ({ utterances }) => utterances.map(({ text }) => text),
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error;
      return error.code;
    },
  );
  /** The n-th attempt, when all of the file was sent to it. */
  const attempt = async (number: number): Promise<PuppetConnection> => {
    while (!puppet.connections[number]?.controls.includes('finish')) {
      clock.increment(50);
      await settle();
    }
    return puppet.connections[number] as PuppetConnection;
  };
  return { attempt, told, outcome, whole, puppet };
}

it('has each attempt that may be billed and is not charged', async () => {
  const { attempt, whole } = job('puppet/a', 'puppet/b');
  await (await attempt(0)).say(ended('1', say('lost')), failed('next'));
  await (await attempt(1)).say(ended('1', say('kept')), FINISHED);
  expect((await whole).passedOver).toMatchObject([{ member: { slug: 'puppet/a' }, reason: 'attempt' }]);
  const alone = job('puppet/a');
  await (await alone.attempt(0)).say(ended('1', say('kept')), FINISHED);
  expect(await alone.whole).not.toHaveProperty('passedOver');
});

describe('utterances sent while a model still listens', () => {
  it('leave once settled, with a formatted version in place of the plain one', async () => {
    const { attempt, told, outcome } = job('puppet/a');
    const leg = await attempt(0);
    await leg.say(ended('1', say('one')));
    expect(told).toEqual(['a one']);
    await leg.say(ended('2', say('two', 1), true));
    expect(told).toEqual(['a one']);
    await leg.say({ type: 'turn.formatted', turnId: '2', utterance: say('Two.', 1) });
    expect(told).toEqual(['a one', 'a Two.']);
    await leg.say(ended('3', say('three', 2), true));
    await leg.say(ended('4', say('four\0', 3), true));
    expect(told).toEqual(['a one', 'a Two.', 'a three']);
    await leg.say(FINISHED);
    expect(await outcome).toEqual(['one', 'Two.', 'three', 'four']);
    expect(told).toEqual(['a one', 'a Two.', 'a three', 'a four']);
  });

  it('equal the result in the end, for any formatting, repeats and omissions', async () => {
    const turn = fc.record({
      text: fc.constantFrom('', 'a', 'b c'),
      formattedFollows: fc.boolean(),
      formatted: fc.boolean(),
      again: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 8 }), async (turns) => {
        const { attempt, told, outcome } = job('puppet/a');
        const leg = await attempt(0);
        for (const [index, { text, formattedFollows, formatted, again }] of turns.entries()) {
          const turnId = String(index);
          await leg.say(ended(turnId, say(text, index), formattedFollows));
          if (formatted) await leg.say({ type: 'turn.formatted', turnId, utterance: say(text.toUpperCase(), index) });
          if (again) await leg.say(ended(turnId, say(text, index)));
        }
        await leg.say(FINISHED);
        expect(told.map((each) => each.slice(2))).toEqual(await outcome);
      }),
      { numRuns: 60, seed: 20_263 },
    );
  });

  it('omit a model that another may replace, and include all of the last', async () => {
    const { attempt, told, outcome } = job('puppet/a', 'puppet/b');
    await (await attempt(0)).say(ended('1', say('lost')), failed('next'));
    await (await attempt(1)).say(ended('1', say('kept')));
    expect(told).toEqual(['b kept']);
    await (await attempt(1)).say(FINISHED);
    expect(await outcome).toEqual(['kept']);
  });

  it.each<[string, Heard[], number, string | string[]]>([
    ['a failure in passing before the first word is tried again', [failed('retry')], 2, ['again']],
    ['behind a word nothing is', [ended('1', say('told')), failed('retry')], 1, 'upstream_failed'],
    [
      'nor behind words whose final is missing',
      [ended('1', say('told')), { type: 'partial', turnId: '2', utterance: say('x') }, FINISHED],
      1,
      'upstream_failed',
    ],
  ])('%s', async (_, heard, attempts, expected) => {
    const { attempt, outcome, puppet } = job('puppet/a');
    await (await attempt(0)).say(...heard);
    if (attempts > 1) await (await attempt(1)).say(ended('1', say('again')), FINISHED);
    expect([await outcome, puppet.connections.length]).toEqual([expected, attempts]);
  });
});
