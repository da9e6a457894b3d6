// What the server offers: agents, presets, its own state. Read once, and again when asked.
import { signal } from '@preact/signals';
import { get } from '../api/client';
import type { Agent, Health, Preset } from '../api/types';

export const agents = signal<Agent[]>([]);
export const defaultAgent = signal<string | null>(null);
export const presets = signal<Preset[]>([]);
export const health = signal<Health | null>(null);

export async function refreshCatalogue() {
  await Promise.allSettled([refreshAgents(), refreshPresets(), refreshHealth()]);
}

export async function refreshAgents() {
  const answer = await get<{ agents: Agent[]; default?: string }>('/agents');
  agents.value = answer.agents;
  defaultAgent.value = answer.default ?? answer.agents.find((agent) => agent.default)?.name ?? null;
}

export async function refreshPresets() {
  presets.value = (await get<{ presets: Preset[] }>('/presets')).presets;
}

export async function refreshHealth() {
  health.value = await get<Health>('/health');
}
