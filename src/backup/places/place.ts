// A place for backups: the port that a directory and a bucket implement.

export interface StoredFile {
  name: string;
  byteLength: number;
}

/** Every method rejects with BackupError when the place cannot do it. Names are those of copy-name.ts. */
export interface BackupPlace {
  /** How messages call it; without credentials. */
  readonly title: string;
  /** The files whose names begin so, in no order; others may be among them. */
  list(start: string): Promise<StoredFile[]>;
  /**
   * Stores the bytes under that name, all of them or nothing. Resolves when they are durable.
   *
   * @param byteLengthMax what the bytes do not exceed
   */
  write(name: string, bytes: AsyncIterable<Uint8Array>, byteLengthMax: number): Promise<void>;
  read(name: string): AsyncIterable<Uint8Array>;
  /** Resolves as well if the file is missing. */
  remove(name: string): Promise<void>;
}
