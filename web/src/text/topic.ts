// What a conversation is about, in words.
import type { Topic } from '../api/types';

/** "ams1-core-01 (interfaces)", "devices"; nothing where there is no topic. */
export function topicWords(topic: Topic | null): string {
  if (!topic) return '';
  const name = topic.entity?.name ?? topic.entity?.id ?? '';
  const about = topic.about?.replaceAll('_', ' ') ?? '';
  return name && about ? `${name} (${about})` : name || about;
}
