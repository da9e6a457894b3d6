// All data of a user, in one call each: exported, or erased.
import { API, at, change, get, query, send } from '../api/client';
import type { ErasedUser, Me } from '../api/types';
import { saveAs } from './download';

/** Who asks, as the server knows them. */
export const whoAmI = () => get<Me>('/me');

export async function exportUser(id: string) {
  const response = await send(API + at('users', id, 'export'));
  saveAs(`${id}.jsonl`, await response.blob());
}

export function eraseUser(id: string): Promise<ErasedUser> {
  return change('DELETE', at('users', id) + query({ confirm: id }));
}
