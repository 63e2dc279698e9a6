// Messages of gRPC calls as objects and as bytes. The library is loaded when the first call is made.
import type { Type } from 'protobufjs/light.js';
import type { GrpcMethod } from '../provider.ts';

type Message = Readonly<Record<string, unknown>>;

/** Writes and reads messages of one type. Both throw where something is none. */
interface MessageForm {
  write(message: Message): Uint8Array;
  read(bytes: Uint8Array): Record<string, unknown>;
}

export interface MethodForms {
  request: MessageForm;
  response: MessageForm;
}

const known = new WeakMap<GrpcMethod, Promise<MethodForms>>();

export function formsOf(method: GrpcMethod): Promise<MethodForms> {
  const forms = known.get(method) ?? made(method);
  known.set(method, forms);
  return forms;
}

async function made({ types, request, response }: GrpcMethod): Promise<MethodForms> {
  const { default: library } = await import('protobufjs/light.js');
  const root = library.Root.fromJSON({
    nested: types as Parameters<typeof library.Root.fromJSON>[0]['nested'] & object,
  });
  return { request: formOf(root.lookupType(request)), response: formOf(root.lookupType(response)) };
}

const formOf = (type: Type): MessageForm => ({
  write: (message) => type.encode(type.fromObject(message)).finish(),
  read: (bytes) => type.toObject(type.decode(bytes), { enums: String, longs: Number }),
});

export const text = (id: number) => ({ type: 'string', id });
export const flag = (id: number) => ({ type: 'bool', id });
export const int = (id: number) => ({ type: 'int32', id });
export const float = (id: number) => ({ type: 'float', id });
export const many = (type: string, id: number) => ({ rule: 'repeated', type, id }) as const;
