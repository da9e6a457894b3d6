// How the server is: its parts, durability, cache, jobs and latencies, from its own figures.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { look, type Look } from '../state/operations';
import { complain, sentence } from '../state/notices';
import { Facts } from './Facts';
import { LatencyCharts } from './LatencyCharts';
import { Page } from './Page';
import { ServersCard } from './ServersCard';

const EVERY_MS = 3000;
/** Two looks make the first figure; the second comes soon. */
const SOON_MS = 700;
const KEPT = 200;

export function OperationsPage() {
  const looks = useSignal<Look[]>([]);
  const failed = useSignal(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let gone = false;
    const again = async () => {
      try {
        if (!document.hidden || looks.peek().length === 0) {
          const seen = await look();
          if (!gone) looks.value = [...looks.value.slice(1 - KEPT), seen];
        }
        failed.value = false;
      } catch (error) {
        if (!failed.peek()) complain(error);
        failed.value = true;
      }
      if (!gone) timer = setTimeout(again, looks.peek().length < 2 ? SOON_MS : EVERY_MS);
    };
    void again();
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, []);
  const now = looks.value.at(-1);
  return (
    <Page title="Operations" lead="Read from this server's own figures every few seconds. Nothing is sent anywhere.">
      {!now ? <p class="quiet" aria-busy="true">Loading…</p> : (
        <>
          <p class="health" data-status={now.health.status}><span class="dot" aria-hidden="true" /> {now.health.status === 'ok' ? 'Everything answers.' : `The server says: ${now.health.status}.`} <span class="quiet">Version {now.health.version}</span></p>
          {now.health.warnings.map((warning) => <p key={warning} class="warning">{sentence(warning)}.</p>)}
          <LatencyCharts looks={looks.value} />
          <div class="cards">
            <section class="card">
              <h2>Store</h2>
              <dl class="facts">
                <div><dt>Backend</dt><dd>{now.health.store.backend}</dd></div>
                <div><dt>Where</dt><dd><code>{now.health.store.location}</code></dd></div>
                <div><dt>Durability</dt><dd>{words(now.health.store.durability)}</dd></div>
                <div><dt>Several copies may write</dt><dd>{now.health.store.many_writers ? 'yes' : 'no'}</dd></div>
              </dl>
              {now.health.store.notes.map((note) => <p key={note} class="quiet">{note}</p>)}
            </section>
            <section class="card">
              <h2>Models</h2>
              {now.health.models.length > 0 ? <ul class="plain">{now.health.models.map((model) => <li key={model}>{model}</li>)}</ul> : <p class="quiet">None is configured; replies are made without one.</p>}
            </section>
            <ServersCard servers={now.health.servers} />
            {now.parts.map((part) => <Facts key={part.title} {...part} />)}
          </div>
        </>
      )}
    </Page>
  );
}

function words(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('_', ' ') : JSON.stringify(value);
}
