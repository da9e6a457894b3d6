import { render } from 'preact';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/sidebar.css';
import './styles/conversation.css';
import './styles/inspector.css';
import './styles/pages.css';
import { App } from './components/App';
import { later } from './components/Later';
import { place } from './state/route';

const SharedPage = later(() => import('./components/SharedPage').then((module) => module.SharedPage));

/** A visitor gets what was shared, and nothing around it. */
function Root() {
  return place.value.name === 'shared' ? <SharedPage token={place.value.token} /> : <App />;
}

render(<Root />, document.getElementById('page')!);
