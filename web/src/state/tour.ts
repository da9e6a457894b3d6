// The conversation that shows the whole idea in two minutes, over the demo inventory and without a model.
import { change } from '../api/client';
import { agents } from './catalogue';

export interface Step {
  message: string;
  shows: string;
}

export const STEPS: Step[] = [
  { message: 'List the devices in Amsterdam', shows: 'A tool is found, filled in and called' },
  { message: 'Show the interfaces of the second one', shows: 'A reference is understood' },
  { message: 'Add C++ and Python answers to project 123 survey', shows: 'A change, with its consequences' },
  { message: 'What answers were deselected?', shows: 'Answered from an earlier result, no call' },
  { message: 'Delete the device ams1-srv-03', shows: 'A destructive call waits for you' },
];

/** The agent that the tour talks to, where the server has it. */
export function tourAgent(): string | null {
  return agents.value.find((agent) => agent.name === 'demo')?.name ?? null;
}

/** Takes back what earlier runs of the tour have changed. A server without the demo has nothing to take back. */
export function resetDemo(): Promise<unknown> {
  return change('POST', '/demo/reset').catch(() => undefined);
}

/** The step that comes after these messages; null when it is over or was left. */
export function nextStep(messages: string[]): Step | null {
  const here = messages.length === 0 ? 0 : STEPS.findIndex((step) => step.message === messages.at(-1)) + 1;
  return messages.length === 0 || here > 0 ? (STEPS[here] ?? null) : null;
}
