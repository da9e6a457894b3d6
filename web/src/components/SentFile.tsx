// A file that came with a message: a picture small, and either of them whole when it is opened.
import { useSignal } from '@preact/signals';
import type { TurnBrief } from '../api/types';
import { keptFiles } from '../state/attached';
import type { Attachment } from '../text/file';
import { Dialog } from './Dialog';
import { Icon } from './Icon';
import { useLoaded } from './useLoaded';
import { Waiting } from './Waiting';

const PICTURE = /\.(png|jpe?g|gif|webp)$/i;

export interface SentFileProps {
  session: string;
  turn: TurnBrief;
  name: string;
}

export function SentFile(file: SentFileProps) {
  const open = useSignal(false);
  return (
    <>
      <button class="file-chip" title={`Open ${file.name}`} onClick={() => (open.value = true)}>
        {PICTURE.test(file.name) ? <Thumbnail {...file} /> : <Icon name="file" size={13} />} {file.name}
      </button>
      {open.value && <Opened {...file} onClose={() => (open.value = false)} />}
    </>
  );
}

function useFile({ session, turn, name }: SentFileProps) {
  return useLoaded(async (): Promise<Attachment | null> => (await keptFiles(session, turn)).find((file) => file.name === name) ?? null, [session, turn.turn, name]);
}

function Thumbnail(file: SentFileProps) {
  const loaded = useFile(file);
  const picture = loaded.state === 'here' ? loaded.value?.image : undefined;
  return picture ? <img src={picture} alt="" /> : <Icon name="file" size={13} />;
}

function Opened({ onClose, ...file }: SentFileProps & { onClose: () => void }) {
  const loaded = useFile(file);
  return (
    <Dialog title={file.name} wide onClose={onClose}>
      {loaded.state !== 'here' ? <Waiting loaded={loaded} />
        : loaded.value === null ? <p>It did not fit into the request and was not kept.</p>
        : loaded.value.image ? <img class="piece-picture" src={loaded.value.image} alt={file.name} />
        : <pre tabIndex={0}>{loaded.value.text}</pre>}
    </Dialog>
  );
}
