// The Python client against a real gateway: its own cases that take longer.
import { pythonCases } from '../suite.ts';

pythonCases('slow/');
