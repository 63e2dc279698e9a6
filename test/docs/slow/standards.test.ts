// The two documents for programs are valid by the schemas that their standards publish.
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { asyncApi, OpenApiValidator } from '../../../tools/standards.ts';
import { startLiveGateway } from '../../fakes/processes/live-gateway.ts';

const gateway = await startLiveGateway();
const served = async (path: string) => (await (await fetch(`${gateway.url}${path}`)).json()) as Record<string, unknown>;

test('serves valid OpenAPI 3.1', async () => {
  const document = await served('/openapi.json');
  const check = (text: Record<string, unknown>) => new OpenApiValidator().validate(structuredClone(text));
  expect(await check(document)).toMatchObject({ valid: true });
  expect(await check({ ...document, paths: 7 })).toMatchObject({ valid: false });
});

test('serves valid AsyncAPI 3.0', async () => {
  const document = await served('/asyncapi.json');
  // The specification's own schema names its drafts twice.
  const ajv = new Ajv({ strict: false, meta: false, validateSchema: false, validateFormats: false, logger: false });
  const schemas: Record<string, object> = asyncApi.schemas;
  const validate = ajv.compile(schemas['3.0.0']!);
  expect([validate(document), validate.errors]).toEqual([true, null]);
  const { channels } = document as { channels: { listen: object } };
  expect(validate({ ...document, channels: { listen: { ...channels.listen, address: 7 } } })).toBe(false);
});
