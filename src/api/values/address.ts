// What is said of a file that a client names by its address: nothing is fetched from elsewhere.

/** What services call it. */
export const ADDRESSES: readonly string[] = ['url', 'audio_url', 'file_url', 'source_url', 'cloud_storage_url'];

export const notFetched = (param: string): string =>
  `\`${param}\` is not served: audio by URL is not fetched. Download the file and upload it.`;
