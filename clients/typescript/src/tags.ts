// Tags of a session, file or job: usage is added up by them.

/** Up to ten pairs, such as `{ customer: 'acme' }`. Tags of the API key and the client token are added, and cannot be changed. */
export type Tags = Readonly<Record<string, string>>;

/** As a query or a form has them; undefined without any. */
export const tagsText = (tags: Tags | undefined): string | undefined =>
  tags === undefined ? undefined : JSON.stringify(tags);
