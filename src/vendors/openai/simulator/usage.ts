// What OpenAI counts of a transcription: seconds by most models, tokens by those of the 4o family.
export function usageOf(model: string, seconds: number, text: string): Readonly<Record<string, unknown>> {
  if (!model.startsWith('gpt-4o')) return { type: 'duration', seconds: Math.ceil(seconds) };
  const audio = Math.round(seconds * 10);
  const output = text.split(' ').length;
  const details = { input_token_details: { audio_tokens: audio, text_tokens: 0 } };
  return { type: 'tokens', input_tokens: audio, output_tokens: output, total_tokens: audio + output, ...details };
}
