// What an operation of the HTTP interface is, before it is written as OpenAPI. The operations themselves are operations.ts.
import type { TObject, TSchema } from '@sinclair/typebox';
import type { ErrorCode } from '../../api/error-catalogue.ts';
import type { Json } from '../schemas/json-schema.ts';

/** One form of an answer. */
export interface Form {
  /** Of several: one of them. */
  schema: TSchema | readonly TSchema[] | TextForm;
  example: unknown;
}

/** A body that is no JSON. */
export interface TextForm {
  /** What the text is. */
  text: string;
  /** Of an event stream: what each `data` is. */
  events?: readonly TSchema[];
}

export interface Answer {
  description: string;
  /** Beside those that every answer has. */
  headers?: readonly string[];
  /** By content type, without parameters. */
  forms: Readonly<Record<string, Form>>;
  /** The connection becomes a WebSocket. */
  isSocket?: boolean;
}

export interface Operation {
  /** Stable: programs generated from the document call it so. */
  id: string;
  method: 'get' | 'post';
  /** With `{name}` for what is filled in. */
  path: string;
  tag: string;
  summary: string;
  description: string;
  /** `key`: an API key; `upload`: that, or a client token whose key allows it; `metrics`: the operator's token. */
  security: 'none' | 'key' | 'upload' | 'metrics' | 'key or token';
  /** What is filled into the path. */
  segments?: Readonly<Record<string, Json>>;
  query?: TObject;
  /** Headers of the request. */
  headers?: Readonly<Record<string, Json>>;
  body?: { required: boolean; type: 'application/json' | 'multipart/form-data'; schema: TSchema; example: Json };
  answers: Readonly<Record<string, Answer>>;
  errors: readonly ErrorCode[];
  /** What follows `curl`, with `{base}` for the address of the gateway, and the key in VOXGATE_KEY. */
  curl: string;
}
