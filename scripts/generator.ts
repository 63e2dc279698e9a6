// What a generated file is: the shape each generator has. The list of them is generators.ts.

/** Makes committed files from the code. The same code gives the same bytes on every machine. */
export interface Generator {
  readonly name: string;
  /** The command that writes the files, as a person types it. */
  readonly command: string;
  /** Whole contents by path, relative to the project's folder. */
  files(): Promise<ReadonlyMap<string, string>>;
}
