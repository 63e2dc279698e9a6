// Looks for words that must not be anywhere.

/** Each place in which some of the words are, with what is around them. */
export const foundIn = (places: Readonly<Record<string, readonly string[]>>, words: readonly string[]): string[] =>
  Object.entries(places).flatMap(([place, texts]) =>
    texts.flatMap((text) =>
      words.flatMap((word) => {
        const at = text.indexOf(word);
        return at < 0 ? [] : [`${place}: ${text.slice(Math.max(0, at - 160), at + 60)}`];
      }),
    ),
  );
