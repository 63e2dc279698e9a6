// Captions after half a minute without NATS, where the connection to the provider is on another node: what was said meanwhile is
// complete, and the captions are on time again within half a minute where the provider takes audio fast enough.
import { readFileSync } from 'node:fs';
import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import WebSocket from 'ws';
import type { ServerEvent } from '../../../../src/api/listen-events.ts';
import { sendInRealTime } from '../../../../src/cli/shared/live-client.ts';
import { natsServerIsHere } from '../../../fakes/network/nats-server.ts';
import { Cluster, NODE_START_MS } from '../../rig/cluster.ts';

const BYTES_PER_SECOND = 32_000;
const HEADER_BYTES = 44;
/** Its five commands take 15.4 s, half of that pauses. */
const SPEECH = 'test/fixtures/audio/commands.wav';
const COMMANDS = 5;
const TIMES = 5;
const BEFORE_MS = 8_000;
const OUTAGE_MS = 30_000;
const CAUGHT_UP_SECONDS = 30;
const LATE_SECONDS_MAX = 2;

interface Caption {
  text: string;
  /** When its speech ended, and when it arrived, in seconds since the start of the talk. */
  end: number;
  arrived: number;
}

/** Speaks at the pace of speech; resolves when the session has ended. */
function speak(url: string, key: string, audio: Uint8Array) {
  const socket = new WebSocket(
    `${url.replace('http', 'ws')}/v1/listen?model=local/commands-en&encoding=linear16&sample_rate=16000`,
    { headers: { Authorization: `Bearer ${key}` } },
  );
  const captions: Caption[] = [];
  let beganMs = 0;
  const seconds = () => (performance.now() - beganMs) / 1_000;
  const ended = new Promise<void>((resolve, reject) => {
    socket.on('error', reject);
    socket.on('close', () => resolve());
    socket.on('message', (data) => {
      const event = JSON.parse(String(data)) as ServerEvent;
      if (event.type === 'session_started') {
        beganMs = performance.now();
        sendInRealTime(socket, audio, BYTES_PER_SECOND, (bytes) => {
          if (bytes === audio.byteLength) socket.send(JSON.stringify({ type: 'close' }));
        });
      }
      if (event.type === 'transcript' && event.is_final && event.text !== '')
        captions.push({ text: event.text, end: event.end, arrived: seconds() });
    });
  });
  return { captions, ended, seconds };
}

// It says itself why, when nats-server is not here.
describe.skipIf(!natsServerIsHere)('captions after 30 s without NATS', () => {
  test(
    'return complete, and on time within 30 s with a model at eight times real time',
    async () => {
      const cluster = await Cluster.start({
        accounts: { roles: 'accounts' },
        upstream: { roles: 'upstream' },
        edge: { roles: 'edge' },
      });
      const once = readFileSync(SPEECH).subarray(HEADER_BYTES);
      const talk = speak(cluster.node('edge').url, cluster.key, Buffer.concat(Array(TIMES).fill(once)));
      onTestFinished(() => talk.ended);
      await after(BEFORE_MS);
      await cluster.nats.kill();
      await after(OUTAGE_MS);
      await cluster.nats.restart();
      const back = talk.seconds();
      await talk.ended;
      const late = talk.captions.map(({ end, arrived }) => arrived - end);
      const afterwards = talk.captions.filter(({ end }) => end > back);
      const onTime = talk.captions.find(({ end, arrived }) => arrived > back && arrived - end < LATE_SECONDS_MAX);
      console.info(`on time again ${((onTime?.arrived ?? Number.NaN) - back).toFixed(1)} s after NATS was back`);
      expect(talk.captions).toHaveLength(COMMANDS * TIMES);
      expect(Math.max(...late)).toBeGreaterThan(OUTAGE_MS / 1_000 / 2);
      expect((onTime?.arrived ?? Number.POSITIVE_INFINITY) - back).toBeLessThan(CAUGHT_UP_SECONDS);
      expect(
        afterwards.filter(({ arrived, end }) => arrived > back + CAUGHT_UP_SECONDS && arrived - end > LATE_SECONDS_MAX),
      ).toEqual([]);
    },
    3 * NODE_START_MS + 120_000,
  );
});
