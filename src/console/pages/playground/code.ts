// The same call as code: for curl, TypeScript and Python. No credential stands in it.
import type { Asked } from './run.ts';

export type Language = 'curl' | 'TypeScript' | 'Python';

export function codeOf(asked: Asked, language: Language, origin: string): string {
  if (language === 'curl') return curl(asked, origin);
  return language === 'TypeScript' ? typescript(asked, origin) : python(asked, origin);
}

const hasParams = ({ params }: Asked): boolean => Object.keys(params).length > 0;

function curl(asked: Asked, origin: string): string {
  const fields = [
    `model=${asked.model}`,
    ...(asked.fallbacks.length === 0 ? [] : [`fallbacks=${asked.fallbacks.join(',')}`]),
    ...(asked.language === '' ? [] : [`language=${asked.language}`]),
    ...(asked.diarization ? ['diarization=true'] : []),
    ...(hasParams(asked) ? [`provider_params=${JSON.stringify(asked.params)}`] : []),
  ];
  const lines = [
    `curl ${origin}/v1/audio/transcriptions`,
    '-H "Authorization: Bearer $VOXGATE_KEY"',
    ...fields.map((field) => `-F '${field.replaceAll("'", `'\\''`)}'`),
    '-F file=@speech.wav',
  ];
  return lines.join(' \\\n  ');
}

function typescript(asked: Asked, origin: string): string {
  const options = [
    `model: ${JSON.stringify(asked.model)}`,
    'sampleRate: microphone.sampleRate',
    ...(asked.fallbacks.length === 0 ? [] : [`fallbacks: ${JSON.stringify(asked.fallbacks)}`]),
    ...(asked.language === '' ? [] : [`language: ${JSON.stringify(asked.language)}`]),
    ...(asked.diarization ? ['diarization: true'] : []),
    ...(hasParams(asked) ? [`providerParams: ${JSON.stringify(asked.params)}`] : []),
  ];
  return `import { Voxgate } from '@voxgate/client';

// Your server mints the token with POST ${origin}/v1/tokens and its key.
const client = new Voxgate({ baseUrl: '${origin}', getToken: () => fetch('/token').then((answer) => answer.json()) });
const microphone = await client.microphone();
const session = client.listen({
  ${options.join(',\n  ')},
});
session.pipe(microphone, { close: true });
for await (const event of session) {
  if (event.type === 'transcript' && event.is_final) console.log(event.text);
}`;
}

function python(asked: Asked, origin: string): string {
  const extra = {
    ...(asked.fallbacks.length === 0 ? {} : { fallbacks: asked.fallbacks.join(',') }),
    ...(asked.diarization ? { diarization: 'true' } : {}),
    ...(hasParams(asked) ? { provider_params: JSON.stringify(asked.params) } : {}),
  };
  const rest = [
    ...(asked.language === '' ? [] : [`language=${JSON.stringify(asked.language)}`]),
    ...(Object.keys(extra).length === 0 ? [] : [`extra_body=${JSON.stringify(extra)}`]),
  ];
  return `import os
from openai import OpenAI

client = OpenAI(base_url="${origin}/v1", api_key=os.environ["VOXGATE_KEY"])
with open("speech.wav", "rb") as file:
    answer = client.audio.transcriptions.create(
        model=${JSON.stringify(asked.model)}, file=file${rest.map((part) => `,\n        ${part}`).join('')}
    )
print(answer.text)`;
}
