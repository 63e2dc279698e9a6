// What clients of other services are told when they request what is not served.

/** What services call the address of audio. */
export const ADDRESSES: readonly string[] = ['url', 'audio_url', 'file_url', 'source_url', 'cloud_storage_url'];

export const twoFiles = (param: string): string =>
  `The audio was sent as a file and as \`${param}\`. Send one of the two.`;

/** What clients of OpenAI are told that ask for a translation (`audio.translations.create`). */
export const TRANSLATIONS_NOT_SERVED =
  'Translations are not served: a transcript is in the language of the speech. Send the file to /v1/audio/transcriptions and translate the text. A whisper.cpp server of your own translates into English with `provider_params={"translate":true}`.';
