// The tool calls of a committed turn: their names at once, arguments and results when opened.
import { useSignal } from '@preact/signals';
import type { Turn, TurnBrief } from '../api/types';
import { complain } from '../state/notices';
import type { Turns } from '../state/turns';
import { Icon } from './Icon';
import { ToolCall } from './ToolCall';

export function PastCalls({ turns, turn }: { turns: Turns; turn: TurnBrief }) {
  const whole = useSignal<Turn | null>('tool_executions' in turn ? (turn as Turn) : null);
  const open = async () => {
    try {
      whole.value = await turns.whole(turn.turn);
    } catch (error) {
      complain(error);
    }
  };
  if (whole.value) {
    return (
      <div class="calls">
        {whole.value.tool_executions.map((call) => (
          <ToolCall key={call.id} call={{ ...call, state: call.ok ? 'ok' : 'failed' }} tookMs={call.took_ms} />
        ))}
      </div>
    );
  }
  return (
    <div class="calls">
      <button class="call folded" onClick={open}>
        <Icon name="tool" size={15} /> <span class="call-name">{turn.tools_used.join(', ')}</span> <span class="call-words">show</span>
      </button>
    </div>
  );
}
