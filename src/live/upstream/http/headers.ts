// Headers as codecs read them: one text for each name, whichever library brought them.

export const joinedHeaders = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string | undefined> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
