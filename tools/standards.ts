export { default as asyncApi } from '@asyncapi/specs';
export { Validator as OpenApiValidator } from '@seriousme/openapi-schema-validator';
