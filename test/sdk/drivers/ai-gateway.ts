// Vercel's AI Gateway provider of the AI SDK, pointed at the gateway by its `baseURL` alone: that of version 6 for files, and that of
// version 7, which streams.
import { createGatewayProvider as createGateway } from '@ai-sdk/gateway';
import { experimental_transcribe as transcribe } from 'ai';
import { createGateway as createStreamingGateway } from 'ai-gateway-7';
import { WebSocket } from 'ws';
import type { Driver, HeardFinal } from '../../vendors/compat/driver.ts';

// The client takes the one of its platform, and Node 20 has none.
globalThis.WebSocket ??= WebSocket as unknown as typeof globalThis.WebSocket;

export const aiGateway: Driver = {
  client: '@ai-sdk/gateway',
  dialect: 'vercel',
  async file({ url, key, model }, wav) {
    const gateway = createGateway({ baseURL: `${url}/compat/vercel/v3/ai`, apiKey: key });
    const { text } = await transcribe({ model: gateway.transcriptionModel(model), audio: wav, maxRetries: 0 });
    return text;
  },
  async live({ url, key, model, sampleRate }, pieces) {
    const gateway = createStreamingGateway({ baseURL: `${url}/compat/vercel/v4/ai`, apiKey: key });
    const audio = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const piece of pieces) controller.enqueue(piece);
        controller.close();
      },
    });
    const streaming = await gateway
      .transcription(model)
      .doStream?.({ audio, inputAudioFormat: { type: 'audio/pcm', rate: sampleRate } });
    if (streaming === undefined) throw new Error('The client does not stream.');
    const finals: HeardFinal[] = [];
    let whole = '';
    for await (const part of streaming.stream) {
      if (part.type === 'transcript-final') finals.push({ text: part.text, end: part.endSecond ?? Number.NaN });
      if (part.type === 'finish') whole = part.text;
    }
    const told = finals.map(({ text }) => text).filter(Boolean);
    if (whole !== told.join(' ')) throw new Error(`The whole is ${whole}, and its parts are ${told.join(' ')}.`);
    return finals;
  },
};
