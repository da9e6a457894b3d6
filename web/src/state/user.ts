// All data of a user, in one call each: exported, or erased.
import { API, at, change, query, send } from '../api/client';
import type { ErasedUser } from '../api/types';
import { saveAs } from './download';

/** Who one is on a server without keys. */
export const NOBODY_ELSE = 'local';

export async function exportUser(id: string) {
  const response = await send(API + at('users', id, 'export'));
  saveAs(`${id}.jsonl`, await response.blob());
}

export function eraseUser(id: string): Promise<ErasedUser> {
  return change('DELETE', at('users', id) + query({ confirm: id }));
}
