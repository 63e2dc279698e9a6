// Redaction before and after rules: where the rules find nothing, the texts are those of redaction alone.
import { expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import { corpus } from '../../../../scripts/redaction/corpus.ts';
import type { OutgoingEvent } from '../../../../src/api/listen-events.ts';
import { isServiceClass, REDACTION_CLASSES } from '../../../../src/api/redaction.ts';
import { type RequestedTexts, SessionTexts } from '../../../../src/live/session/text/event-texts.ts';
import type { TextAnalyzer } from '../../../../src/redaction/analyzer.ts';

function session(request: RequestedTexts, find?: TextAnalyzer['find']) {
  const sent: string[] = [];
  const logged: string[] = [];
  const send = (event: OutgoingEvent) => {
    if (event.type === 'warning') sent.push(event.message);
    if (event.type === 'transcript') sent.push(`${event.is_final} ${event.text} ${JSON.stringify(event.words)}`);
  };
  const texts = new SessionTexts({
    outbox: { send },
    log: { turn: (_, text) => void logged.push(text) },
    clock: new SimulatedClock(),
    totals: { redacted: () => {} },
    analyzer: find && { find },
    organisationId: 'org_1',
    onFault: (error) => {
      throw error;
    },
  });
  texts.configure(request);
  const say = (turn: number, text: string, is_final: boolean) => {
    const words = text.split(' ').map((word, index) => ({ word, start: index, end: index + 1 }));
    texts.push({ type: 'transcript', text, is_final, turn, start: 0, end: words.length, model: 'm/m', words });
    if (is_final) texts.turn({ turn } as never, text);
  };
  return { texts, sent, logged, say };
}

const ABSENT = [{ from: 'never said', to: 'x' }];

it('gives the texts of redaction alone for every utterance of its corpus, interims and finals', () => {
  const utterances = corpus().map(({ text }) => text);
  expect(utterances.length).toBeGreaterThan(400);
  const [alone, both] = [undefined, ABSENT].map((replacements) => {
    const { texts, sent, logged, say } = session({
      redacted: REDACTION_CLASSES.filter((kind) => !isServiceClass(kind)),
      replacements,
      language: undefined,
    });
    for (const [turn, text] of utterances.entries()) {
      say(turn, text.slice(0, text.indexOf(' ', text.length / 2) + 1 || undefined).trim(), false);
      say(turn, text, true);
      texts.hurry();
    }
    return { sent, logged };
  });
  expect(both).toEqual(alone);
});

it('leaves texts alone once rules and redaction are taken back in mid-session', () => {
  const { texts, sent, logged, say } = session({ redacted: ['card'], replacements: ABSENT, language: undefined });
  texts.configure({ language: undefined, redacted: undefined, replacements: undefined });
  say(0, 'never said 4111 1111 1111 1111', true);
  expect(logged).toEqual(['never said 4111 1111 1111 1111']);
  texts.configure({ language: undefined, redacted: undefined, replacements: ABSENT });
  say(1, 'Never said 4111 1111 1111 1111', true);
  texts.configure({ language: undefined, redacted: ['card'], replacements: ABSENT });
  say(2, 'never said 4111 1111 1111 1111', true);
  expect(sent.map((each) => each.split(' [')[0])).toEqual([
    'true never said 4111 1111 1111 1111',
    'true X 4111 1111 1111 1111',
    'true x',
  ]);
  expect(logged.at(-1)).toBe('x [CARD]');
});

it('leaves out what a provider warns of where a service finds names, and nothing of what the gateway says of a parameter', () => {
  const { texts, sent } = session({ redacted: ['name'], language: undefined, replacements: undefined }, async () => []);
  const ignored = '`standby` is ignored: Deepgram ends connections without audio.';
  texts.push({ type: 'warning', code: 'parameter_ignored', message: ignored, param: 'standby' });
  texts.push({ type: 'warning', code: 'provider_warning', message: 'Deepgram has a warning: Zoe Quill is not a word' });
  expect(sent).toEqual([ignored, 'Deepgram has a warning.']);
});
