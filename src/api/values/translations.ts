/** What clients of OpenAI are told that ask for a translation (`audio.translations.create`). */
export const TRANSLATIONS_NOT_SERVED =
  'Translations are not served: a transcript is in the language of the speech. Send the file to /v1/audio/transcriptions and translate the text. A whisper.cpp server of your own translates into English with `provider_params={"translate":true}`.';
