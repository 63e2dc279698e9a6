// The Python client against a real gateway: its own cases.
import { pythonCases } from '../suite.ts';

pythonCases('');
pythonCases('slow/');
