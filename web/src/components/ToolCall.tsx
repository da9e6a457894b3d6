// One tool call: which tool, with what, and what came of it.
import type { ComponentChildren } from 'preact';
import type { LiveCall } from '../state/live';
import { brief, pretty } from '../text/json';
import { milliseconds } from '../text/numbers';
import { Icon, type IconName } from './Icon';

const STATE: Record<LiveCall['state'], { icon: IconName; words: string }> = {
  running: { icon: 'tool', words: 'running' },
  waiting: { icon: 'pause', words: 'waits for you' },
  refused: { icon: 'cross', words: 'refused' },
  ok: { icon: 'check', words: 'done' },
  failed: { icon: 'warning', words: 'failed' },
};

export interface ToolCallProps {
  call: LiveCall;
  tookMs?: number;
  open?: boolean;
  children?: ComponentChildren;
}

export function ToolCall({ call, tookMs, open, children }: ToolCallProps) {
  const { icon, words } = STATE[call.state];
  return (
    <div class="call" data-state={call.state}>
      <details open={open}>
        <summary>
          <span class="call-state"><Icon name={icon} size={15} /></span>
          <span class="call-name">{call.server}:{call.name}</span>
          <span class="call-arguments">{brief(call.arguments)}</span>
          <span class="call-words">{words}{tookMs !== undefined && ` · ${milliseconds(tookMs)}`}</span>
        </summary>
        <div class="call-body">
          <p class="call-part">Arguments</p>
          <pre tabIndex={0}>{pretty(call.arguments)}</pre>
          {call.result !== undefined && (
            <>
              <p class="call-part">{call.state === 'failed' ? 'What went wrong' : 'Result'}</p>
              <pre tabIndex={0}>{pretty(call.result)}</pre>
            </>
          )}
        </div>
      </details>
      {children}
    </div>
  );
}
