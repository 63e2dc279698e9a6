// The utterances of a session, for who wants all of them at its end.

/** Characters of JSON that are kept of one session; what comes behind is not told again. */
export const WHOLE_CHARACTERS_MAX = 1_048_576;

export class WholeTranscript {
  #characters = 0;
  readonly #utterances: { text: string; json: string; language: string }[] = [];
  /** Not all of it is here. */
  isCut = false;

  add(utterance: { text: string; language: string }): void {
    const json = JSON.stringify(utterance);
    this.#characters += json.length;
    this.isCut ||= this.#characters > WHOLE_CHARACTERS_MAX;
    if (!this.isCut) this.#utterances.push({ text: utterance.text, json, language: utterance.language });
  }

  get result(): object {
    return {
      full_transcript: this.#utterances.map(({ text }) => text).join(' '),
      languages: [...new Set(this.#utterances.map(({ language }) => language))].filter((each) => each !== ''),
      utterances: this.#utterances.map(({ json }) => JSON.parse(json)),
    };
  }
}
