// How to add a model, where none is configured.
import { health } from '../state/catalogue';

export function ModelNote() {
  if (!health.value || (health.value.models?.length ?? 0) > 0) return null;
  return (
    <details class="note">
      <summary>No model is configured: replies come from tools and from what was said. Add one…</summary>
      <p>Set a key and start the server again:</p>
      <pre tabIndex={0}>ANTHROPIC_API_KEY=… throughline serve{'\n'}OPENAI_API_KEY=… OPENAI_BASE_URL=http://127.0.0.1:11434/v1 throughline serve</pre>
      <p>or name models in <code>throughline.toml</code>; <code>throughline config init &gt; throughline.toml</code> writes one with every setting explained.</p>
    </details>
  );
}
