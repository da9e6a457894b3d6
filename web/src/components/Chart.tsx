// A small line chart over time.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

export interface Line {
  label: string;
  /** The name of a colour token. */
  colour: string;
  values: (number | null)[];
}

export interface ChartProps {
  title: string;
  unit: string;
  times: number[];
  lines: Line[];
}

const HEIGHT = 170;
const clock = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
/** A chart with a single look would otherwise span years. */
const SPAN_SECONDS_MIN = 60;

export function Chart({ title, unit, times, lines }: ChartProps) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = lines.map((line) => line.label).join();
  useEffect(() => {
    const element = box.current!;
    const token = (name: string) => getComputedStyle(element).getPropertyValue(name);
    const axis = { stroke: token('--muted'), grid: { stroke: token('--line'), width: 1 }, ticks: { stroke: token('--line'), width: 1 }, font: '11px system-ui' };
    plot.current = new uPlot({
      width: element.clientWidth, height: HEIGHT, legend: { show: false }, cursor: { show: false },
      axes: [{ ...axis, values: (_, ticks) => ticks.map((tick) => clock.format(tick * 1000)), space: 70 }, { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => `${tick}${unit}`) }],
      scales: { x: { range: (_, first, last) => [Math.min(first, last - SPAN_SECONDS_MIN), last] }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.15 : 1] } },
      series: [{}, ...lines.map((line) => ({ label: line.label, stroke: token(line.colour), width: 2, points: { show: false } }))],
    }, [times, ...lines.map((line) => line.values)], element);
    const sizes = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }));
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      plot.current?.destroy();
    };
  }, [shape, unit]);
  useEffect(() => plot.current?.setData([times, ...lines.map((line) => line.values)]), [times]);
  const last = lines.map((line) => `${line.label} ${line.values.at(-1)?.toFixed(1) ?? '–'}${unit}`).join(', ');
  return (
    <figure class="chart">
      <figcaption><strong>{title}</strong> <span class="legend">{lines.map((line) => <span key={line.label}><i class="swatch" style={{ background: `var(${line.colour})` }} />{line.label}</span>)}</span></figcaption>
      <div ref={box} role="img" style={{ minHeight: `${HEIGHT}px` }} aria-label={`${title}: ${last}`} />
    </figure>
  );
}
