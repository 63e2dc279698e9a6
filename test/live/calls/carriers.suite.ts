// Calls of Twilio, Telnyx, Vonage and AudioHook through a whole gateway, which the embedded recogniser transcribes. The gateway may post
// to this machine: `VOXGATE_WEBHOOK_NETWORKS=127.0.0.0/8`.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import WebSocket from 'ws';
import { LiveClient } from '../../fakes/processes/live-gateway.ts';
import { CALL, callBy, spoken, twilioCall } from './phone.ts';
import { startReceiver } from './receiver.ts';

const MODEL = 'local/commands-en';

interface Reached {
  url: string;
  key: string;
}

export function carrierSuite(gateway: () => Reached): void {
  const origin = () => gateway().url.replace('http', 'ws');

  /** The finals of a call, when it has ended. */
  async function eventsOf(name: string) {
    const client = new LiveClient(`${origin()}/v1/sessions/${name}/events`, ['bearer', gateway().key], {});
    await client.close();
    return client.finals
      .filter(({ text }) => text !== '')
      .map(({ channel = 0, text }) => `${channel}: ${text}`)
      .sort();
  }

  test('Twilio: each track of a call has its finals', async () => {
    const tracks = { inbound: spoken('lines/telephone.wav'), outbound: spoken('number.wav') };
    const messages = twilioCall(tracks, { api_key: gateway().key, model: MODEL });
    const { closed } = await callBy(`${origin()}/compat/twilio/media`, messages);
    expect((await closed).code).toBe(1000);
    expect(await eventsOf(CALL)).toEqual(['0: take me home', '1: three hundred and sixty five']);
  });

  test('Telnyx: pieces that come out of their order are put into it', async () => {
    const media = pieces(spoken('lines/telephone.wav'), 160).map((piece, at) => ({
      ...{ event: 'media', stream_id: 'st-7' },
      media: { track: 'inbound', chunk: String(at + 1), payload: Buffer.from(piece).toString('base64') },
    }));
    for (let at = 2; at + 1 < media.length; at += 3) media.splice(at, 2, media[at + 1] as never, media[at] as never);
    const start = { call_control_id: 'v3:telnyx', media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1 } };
    const messages = [{ event: 'start', stream_id: 'st-7', start }, ...media, { event: 'stop' }];
    const endpoint = `${origin()}/compat/telnyx/media?model=${MODEL}`;
    const { closed } = await callBy(endpoint, messages, { Authorization: `Bearer ${gateway().key}` });
    expect((await closed).code).toBe(1000);
    expect(await eventsOf('v3:telnyx')).toEqual(['0: take me home']);
  });

  test('Vonage: samples in binary messages, until the socket closes', async () => {
    const receiver = await startReceiver();
    const first = { event: 'websocket:connected', 'content-type': 'audio/l16;rate=16000', label: 'vonage-7' };
    const asked = { api_key: gateway().key, model: MODEL, events_url: receiver.url };
    const { socket } = await callBy(`${origin()}/compat/vonage/media`, [{ ...first, ...asked }]);
    const samples = readFileSync(new URL('../../fixtures/audio/number.wav', import.meta.url)).subarray(44);
    for (const piece of pieces(samples, 640)) socket.send(piece);
    await receiver.when(() => receiver.events.length > 0);
    socket.close();
    await receiver.when(() => receiver.events.some(({ type }) => type === 'session_ended'));
    expect(await eventsOf('vonage-7')).toEqual(['0: three hundred and sixty five']);
  });

  test('AudioHook: opens, sends transcripts of both sides, and closes after the last', async () => {
    const id = '9aba9a07-8dd5-4654-974a-44075c3d2ba5';
    const socket = new WebSocket(`${origin()}/compat/audiohook/media`, { headers: { 'X-API-KEY': gateway().key } });
    const heard: Record<string, unknown>[] = [];
    const say = (type: string, seq: number, parameters: object) =>
      socket.send(JSON.stringify({ version: '2', type, seq, id, position: 'PT0S', parameters }));
    const [one, two] = [spoken('lines/telephone.wav'), spoken('number.wav')];
    const both = Uint8Array.from({ length: two.length * 2 }, (_, at) =>
      at % 2 === 0 ? (one[at / 2] ?? 0xff) : (two[(at - 1) / 2] as number),
    );
    await new Promise<void>((resolve) => {
      socket.on('open', () => {
        const media = [{ type: 'audio', format: 'PCMU', channels: ['external', 'internal'], rate: 8000 }];
        say('open', 1, { conversationId: 'conv-7', media, language: 'en-US', customConfig: `{"model":"${MODEL}"}` });
      });
      socket.on('message', (data) => {
        const message = JSON.parse(String(data)) as Record<string, unknown>;
        heard.push(message);
        if (message.type === 'opened') {
          for (const piece of pieces(both, 1600)) socket.send(piece);
          say('close', 2, { reason: 'end' });
        } else if (message.type === 'closed') resolve();
      });
    });
    type Told = { parameters: { entities: { data: Record<string, unknown> & { alternatives: never[] } }[] } };
    const finals = (heard.filter(({ type }) => type === 'event') as unknown as Told[])
      .flatMap(({ parameters }) => parameters.entities.map(({ data }) => data))
      .filter(({ isFinal }) => isFinal)
      .map(({ channelId, alternatives: [best] }) => {
        const { interpretations } = best as unknown as { interpretations: { transcript: string }[] };
        return `${channelId}: ${interpretations[0]?.transcript}`;
      });
    expect(finals.filter((each) => !each.endsWith(': ')).sort()).toEqual([
      '0: take me home',
      '1: three hundred and sixty five',
    ]);
    expect(heard.map(({ seq }) => seq)).toEqual(heard.map((_, at) => at + 1));
    expect(heard.at(-1)).toMatchObject({ type: 'closed', clientseq: 2, id });
  });
}

const pieces = (speech: Uint8Array, bytes: number) =>
  Array.from({ length: Math.ceil(speech.length / bytes) }, (_, at) => speech.subarray(at * bytes, (at + 1) * bytes));
