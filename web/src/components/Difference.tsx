// Two texts, line by line: what went and what came.
import { difference } from '../text/difference';

const SIGN = { same: ' ', added: '+', removed: '−' };

export function Difference({ before, after }: { before: string; after: string }) {
  return (
    <pre class="difference" tabIndex={0}>
      {difference(before, after).map((line, index) => (
        <span key={index} data-change={line.change}>{`${SIGN[line.change]} ${line.text}\n`}</span>
      ))}
    </pre>
  );
}
