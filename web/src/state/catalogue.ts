// What the server offers: agents, presets, its own state. Read once, and again when asked.
import { computed, signal } from '@preact/signals';
import { get } from '../api/client';
import type { Agent, Health, Preset } from '../api/types';

export const agents = signal<Agent[]>([]);
/** Files of agents that cannot be read as they are now. */
export const agentProblems = signal<string[]>([]);
export const defaultAgent = signal<string | null>(null);
export const presets = signal<Preset[]>([]);
/** Presets that are offered. */
export const offered = computed(() => presets.value.filter((preset) => preset.isActive));
export const health = signal<Health | null>(null);

export async function refreshCatalogue() {
  await Promise.allSettled([refreshAgents(), refreshPresets(), refreshHealth()]);
}

export async function refreshAgents() {
  const answer = await get<{ agents: Agent[]; problems: string[] }>('/agents');
  agents.value = answer.agents;
  agentProblems.value = answer.problems;
  defaultAgent.value = answer.agents.find((agent) => agent.default)?.name ?? null;
}

export async function refreshPresets() {
  presets.value = (await get<{ presets: Preset[] }>('/presets?pageSize=100&includeInactive=true')).presets;
}

export async function refreshHealth() {
  health.value = await get<Health>('/health');
}
