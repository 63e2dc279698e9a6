// Where OpenAI's API begins: a configured base counts with and without its last `/v1`, as both are in use.

const PUBLIC = 'https://api.openai.com';

export const apiBase = (configured: string | undefined): string =>
  `${(configured ?? PUBLIC).replace(/\/+$/, '').replace(/\/v1$/, '')}/v1`;
