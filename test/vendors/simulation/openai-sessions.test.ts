// Sessions of simulated OpenAI: commits, turns and silence, the end after an hour, and the quirks it can be told to have.
import { afterEach, describe, expect, it } from 'vitest';
import { SimulatedClock } from 'xstate';
import type { EarMessage } from '../../../src/vendors/kit/simulation.ts';
import { type EarSource, scriptEar } from '../../../src/vendors/simulation/ears.ts';
import { closeAll } from './client.ts';
import { begun, COMPLETED, created, TRANSCRIPTION, updateOf } from './openai-client.ts';

afterEach(closeAll);

/** An ear that says what the test says. */
function puppetEar(): { ear: EarSource; say(message: EarMessage): void } {
  const listeners: ((message: EarMessage) => void)[] = [];
  const ear: EarSource = () => (_, listener) => {
    listeners.push(listener);
    return { queuedBytes: 0, audio() {}, finalize() {}, finish() {}, close() {} };
  };
  const say = (message: EarMessage) => {
    for (const listener of listeners) listener(message);
  };
  return { ear, say };
}

describe('a commit', () => {
  it('fails below 100 ms with the measured time, and the audio stays', async () => {
    const client = await begun('gpt-live-transcribe');
    client.speak(0, 0.05);
    client.commit();
    expect(await client.error()).toMatchObject({
      code: 'input_audio_buffer_commit_empty',
      event_id: 'mine',
      message: expect.stringContaining('only has 50.00ms'),
    });
    client.speak(0.05, 0.1);
    client.commit();
    await client.message(COMPLETED);
    expect(client.transcripts).toEqual(['0-2400']);
  });

  it('fails for audio that the server has committed meanwhile', async () => {
    const client = await begun('gpt-4o-transcribe');
    client.speak(0, 2.05);
    client.commit();
    expect((await client.error()).code).toBe('input_audio_buffer_commit_empty');
    expect(client.transcripts).toEqual(['0-48000']);
  });

  it('names the item before it', async () => {
    const client = await begun('gpt-realtime-whisper');
    for (let turn = 0; turn < 3; turn++) {
      client.speak(turn, turn + 1);
      client.commit();
    }
    await client.message('input_audio_buffer.committed', 3);
    const committed = client.all('input_audio_buffer.committed');
    expect(committed.map((event) => event.previous_item_id)).toEqual([
      null,
      committed[0]?.item_id,
      committed[1]?.item_id,
    ]);
  });

  it('completes silence without words when the ear is silent', async () => {
    const clock = new SimulatedClock();
    const client = await begun('gpt-live-transcribe', { ear: puppetEar().ear, clock });
    client.speak(0, 1);
    client.commit();
    await client.settled();
    clock.increment(500);
    await client.message(COMPLETED);
    expect(client.transcripts).toEqual(['']);
  });

  it('completes when the ear passes it, and waits while the ear is in a turn', async () => {
    const clock = new SimulatedClock();
    const { ear, say } = puppetEar();
    const client = await begun('gpt-live-transcribe', { ear, clock });
    client.speak(0, 2);
    client.commit();
    await client.settled();
    say({ type: 'speech_started', start: 0.1 });
    clock.increment(9_999);
    expect(client.transcripts).toEqual([]);
    say({ type: 'final', turn: 0, text: 'one', start: 0.1, end: 1.9 });
    client.speak(2, 4);
    say({ type: 'speech_started', start: 2.1 });
    await client.message(COMPLETED);
    expect(client.transcripts).toEqual(['one']);
  });
});

describe('a session', () => {
  it('forgets what is cleared', async () => {
    const client = await begun('gpt-live-transcribe');
    client.speak(0, 1);
    client.send({ type: 'input_audio_buffer.clear' });
    await client.message('input_audio_buffer.cleared');
    client.speak(1, 2);
    client.commit();
    await client.message(COMPLETED);
    expect(client.transcripts).toEqual(['24000-48000']);
  });

  it('ends no turn automatically without turn detection', async () => {
    const client = await begun('gpt-transcribe', {}, { turn_detection: null });
    client.speak(0, 5);
    client.commit();
    await client.message(COMPLETED);
    expect(client.all('input_audio_buffer.speech_started')).toEqual([]);
    expect(client.transcripts).toEqual([`0-48000 48000-96000 ${96_000 - 65_536}-${120_000 - 65_536}`]);
  });

  it('ends turns from before turn detection was switched off, however late they arrive', async () => {
    const client = await begun('whisper-1');
    client.speak(0, 5);
    client.send(updateOf({ turn_detection: null }));
    client.commit();
    await client.message(COMPLETED, 3);
    expect(client.all('input_audio_buffer.speech_stopped').map((event) => event.audio_end_ms)).toEqual([2_000, 4_000]);
  });

  it('says nothing of noise, unless it had taken it for speech', async () => {
    const ear = scriptEar({
      turns: [
        { text: '', seconds: 1 },
        { text: 'yes', seconds: 1 },
      ],
    });
    const client = await begun('whisper-1', { ear });
    client.speak(0, 2);
    await client.message(COMPLETED, 2);
    expect(client.transcripts).toEqual(['', 'yes']);
    expect(client.all(`${TRANSCRIPTION}.delta`).map(({ delta }) => delta)).toEqual(['yes']);
  });

  it('ends after an hour', async () => {
    const clock = new SimulatedClock();
    const client = await begun('whisper-1', { clock });
    clock.increment(3_599_999);
    client.speak(0, 2);
    await client.message(COMPLETED);
    clock.increment(1);
    expect(await client.closed).toEqual({
      code: 1001,
      reason: 'Your session hit the maximum duration of 60 minutes.',
    });
    expect((await client.error()).code).toBe('session_expired');
  });
});

describe('the quirk', () => {
  it('strict-order refuses audio before the settings', async () => {
    const client = await created({ faults: ['strict-order'] });
    client.speak(0, 1);
    await client.message('error');
    client.send(updateOf({ transcription: { model: 'whisper-1' } }));
    await client.message('session.updated');
    client.speak(1, 3);
    await client.message(COMPLETED);
    expect(client.transcripts).toEqual(['24000-72000']);
  });

  it('transcribes such audio without strict-order', async () => {
    const client = await created();
    client.speak(0, 1);
    client.send(updateOf({ transcription: { model: 'whisper-1' } }));
    client.speak(1, 2);
    await client.message(COMPLETED);
    expect(client.transcripts).toEqual(['0-48000']);
  });

  it('out-of-order completes items in pairs, the second first, and leaves none behind', async () => {
    const clock = new SimulatedClock();
    const client = await begun('whisper-1', { faults: ['out-of-order'], clock });
    client.speak(0, 6);
    await client.message(COMPLETED, 2);
    await client.message('input_audio_buffer.committed', 3);
    clock.increment(500);
    await client.message(COMPLETED, 3);
    const order = client.all('input_audio_buffer.committed').map(({ item_id }) => item_id);
    const completed = client.all(COMPLETED).map(({ item_id }) => order.indexOf(item_id));
    expect(completed).toEqual([1, 0, 2]);
  });

  it('expire-after ends the session early', async () => {
    const clock = new SimulatedClock();
    const client = await begun('whisper-1', { faults: ['expire-after=2000'], clock });
    clock.increment(2_000);
    expect((await client.closed).code).toBe(1001);
  });

  it('fail-item fails one item, and none else', async () => {
    const client = await begun('whisper-1', { faults: ['fail-item=2'] });
    client.speak(0, 6);
    await client.message(COMPLETED, 2);
    const failed = client.all(`${TRANSCRIPTION}.failed`).map(({ item_id }) => item_id);
    expect(failed).toEqual([client.all('input_audio_buffer.committed')[1]?.item_id]);
  });

  it('slow-complete delays what follows a commit', async () => {
    const clock = new SimulatedClock();
    const client = await begun('whisper-1', { faults: ['slow-complete=300'], clock });
    client.speak(0, 2);
    await client.message('conversation.item.added');
    expect(client.transcripts).toEqual([]);
    clock.increment(300);
    await client.message(COMPLETED);
  });
});
