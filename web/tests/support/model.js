// A scripted model behind the OpenAI-compatible wire format: says its words one by one, calls a tool when told to.
import { createServer } from 'node:http';

/**
 * `script(request)` answers `{words, pause}`, `{call: {name, arguments}}`, `{status, message}` for a refusal or
 * `{silent: true}` for no answer at all; with `broken` the connection ends after the words. `pause` is the time between words in milliseconds.
 * `bodies` are the bytes that arrived.
 */
export async function startModel(script) {
  const seen = [];
  const bodies = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const body = JSON.parse(text || '{}');
    seen.push(body);
    bodies.push(text);
    const { words = [], pause = 0, call, status, message, silent, broken } = script(body);
    if (silent) return;
    if (status) {
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { message } }));
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const tell = (delta, finish = null) => response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: body.model, choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`);
    tell({ role: 'assistant', content: '' });
    if (call) {
      tell({ tool_calls: [{ index: 0, id: `call_${seen.length}`, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } }] });
      tell({}, 'tool_calls');
    } else {
      for (const word of words) {
        if (response.destroyed) return;
        tell({ content: word });
        if (pause) await new Promise((done) => setTimeout(done, pause));
      }
      if (broken) return response.destroy();
      tell({}, 'stop');
    }
    response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: body.model, choices: [], usage: { prompt_tokens: 100, completion_tokens: words.length, total_tokens: 100 + words.length } })}\n\n`);
    response.end('data: [DONE]\n\n');
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    seen,
    bodies,
    stop: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }),
  };
}
