// How the server is: the figures that matter, over time, then its parts.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { look, looks } from '../state/operations';
import { complainUnlessSilent, sentence } from '../state/notices';
import { figuresOf } from '../state/figures';
import { Across } from './Across';
import { Facts } from './Facts';
import { OperationsCharts } from './OperationsCharts';
import { Page } from './Page';
import { ServersCard } from './ServersCard';

const EVERY_MS = 3000;
/** Two looks make the first rate; the second comes soon. */
const SOON_MS = 700;

function useLooks() {
  const failed = useSignal(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let gone = false;
    const again = async () => {
      try {
        if (!document.hidden || looks.peek().length === 0) await look();
        failed.value = false;
      } catch (error) {
        if (!failed.peek()) complainUnlessSilent(error);
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
}

export function OperationsPage() {
  useLooks();
  const now = looks.value.at(-1);
  return (
    <Page title="Operations" lead="This server's own figures, read every few seconds while you look. Nothing is sent anywhere.">
      {!now ? <p class="quiet" aria-busy="true">Loading…</p> : (
        <>
          <p class="health" data-status={now.health.status}><span class="dot" aria-hidden="true" /> {now.health.status === 'ok' ? 'Everything works.' : `The server says: ${now.health.status}.`} <span class="quiet">Version {now.health.version}</span></p>
          {now.health.warnings.map((warning) => <p key={warning} class="warning">{sentence(warning)}.</p>)}
          <dl class="figures-row">
            {figuresOf(now).map((figure) => (
              <div key={figure.name} data-bad={figure.bad ?? false}><dt>{figure.name}</dt><dd><strong>{figure.value}</strong> <span class="quiet">{figure.means}</span></dd></div>
            ))}
          </dl>
          <OperationsCharts looks={looks.value} />
          <Across />
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
            <Facts title="Background work" values={pick(now.stats, WORK)} note="What follows a turn: indexing, summaries, look-ups of entities. Counted in sessions since the start." />
            <Facts title="Memory and caches" values={pick(now.stats, CACHES)} />
          </div>
        </>
      )}
    </Page>
  );
}

function words(value: unknown): string {
  return typeof value === 'string' ? value.replaceAll('_', ' ') : JSON.stringify(value);
}

const WORK = { jobs_waiting: 'waiting', jobs_done: 'done', jobs_failed: 'failed' };
const CACHES = {
  resident_bytes: 'bytes of the process', cached_sessions: 'sessions in memory', cached_bytes: 'their bytes', hit_rate: 'loads from memory, share',
  enrichment_hits: 'messages enriched from memory', enrichment_misses: 'messages enriched anew', turns_under_way: 'turns under way',
};

/** Some of the figures under their names for people, where they are there. */
function pick(values: Record<string, unknown>, names: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(names).filter(([name]) => name in values).map(([name, label]) => [label, values[name]]));
}
