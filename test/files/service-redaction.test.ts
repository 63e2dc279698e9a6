// Names in the transcript of a file, as a service finds them: across utterances, again when it fails, and never without its answer.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { Utterance } from '../../machines/events.ts';
import { redactedOutcome } from '../../src/files/redaction.ts';
import { analysed, RETRY_MS } from '../../src/files/service-redaction.ts';
import type { TranscriptionOutcome } from '../../src/files/transcribe.ts';
import type { AnalyzedText } from '../../src/redaction/analyzer.ts';
import type { Match } from '../../src/redaction/match.ts';
import { settle } from '../fakes/session-rig.ts';

const utterance = (text: string, words?: string): Utterance => ({
  text,
  start: 0,
  end: 1,
  ...(words === undefined ? {} : { words: words.split(' ').map((word, at) => ({ word, start: at, end: at + 1 })) }),
});

/** @param failures so many calls that fail first */
function rig(failures = 0) {
  const clock = new SimulatedClock();
  const asked: AnalyzedText[] = [];
  const end = new AbortController();
  const find = async (call: AnalyzedText): Promise<Match[]> => {
    asked.push(call);
    if (asked.length <= failures) throw new Error('No answer.');
    return [...call.text.matchAll(/Zoe(?:\s+Quill)?/g)].map(({ 0: name, index }) => ({
      class: 'name' as const,
      from: index,
      to: index + name.length,
    }));
  };
  const analysis = {
    ...{ analyzer: { find }, clock, organisationId: 'org', language: 'en', signal: end.signal },
    classes: ['name'] as const,
  };
  return { clock, asked, analysis, end };
}

const outcomeOf = (...utterances: Utterance[]) => ({ utterances, warnings: [] }) as unknown as TranscriptionOutcome;

it('labels names, also across utterances and within text that the gateway redacts', async () => {
  const { analysis, asked } = rig();
  const { utterances, redactions, warnings } = await redactedOutcome(
    outcomeOf(utterance('I am Zoe', 'I am Zoe'), utterance('Quill, card 4111 1111 1111 1111')),
    { classes: ['card', 'name'], isStream: false, analysis },
  );
  expect(utterances.map(({ text }) => text)).toEqual(['I am [NAME]', '[NAME], card [CARD]']);
  expect(utterances[0]?.words?.map(({ word }) => word)).toEqual(['I', 'am', '[NAME]']);
  expect(redactions).toEqual({ name: 2, card: 1 });
  expect(warnings).toEqual([]);
  expect(asked).toHaveLength(1);
});

it('leaves out words that are spelt in another way than the text', async () => {
  const { analysis } = rig();
  const [known] = await analysed([utterance('Zoe has 2', 'zo ee has two')], analysis);
  expect(known?.utterance.words).toBeUndefined();
});

it('asks again where the service fails', async () => {
  const { analysis, clock, asked } = rig(RETRY_MS.length);
  const work = analysed([utterance('Zoe')], analysis);
  for (const waitMs of RETRY_MS) {
    await settle();
    clock.increment(waitMs);
  }
  expect((await work)[0]?.known).toHaveLength(1);
  expect(asked).toHaveLength(1 + RETRY_MS.length);
});

it('withholds the text, with a warning, where the service never answers', async () => {
  const { analysis, clock } = rig(100);
  const failed: string[] = [];
  const work = redactedOutcome(outcomeOf(utterance('Zoe'), utterance('and no name')), {
    ...{ classes: ['name'], isStream: false, analysis },
    onRedacted: (kind) => void failed.push(kind),
  });
  for (const waitMs of RETRY_MS) {
    await settle();
    clock.increment(waitMs);
  }
  const { utterances, warnings } = await work;
  expect(utterances.map(({ text }) => text)).toEqual(['[REDACTED]', '[REDACTED]']);
  expect(warnings).toMatchObject([{ code: 'redaction_failed', param: 'redact' }]);
  expect(failed).toEqual(['failed', 'failed']);
});

it('ends with its file while it waits', async () => {
  const { analysis, end } = rig(100);
  const work = analysed([utterance('Zoe')], analysis);
  await settle();
  end.abort(new Error('The client is gone.'));
  await expect(work).rejects.toThrow('gone');
});

it('asks nothing about silence', async () => {
  const { analysis, asked } = rig();
  expect(await analysed([utterance('')], analysis)).toMatchObject([{ known: [] }]);
  expect(asked).toEqual([]);
});
