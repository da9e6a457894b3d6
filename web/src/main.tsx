import { render } from 'preact';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/sidebar.css';
import './styles/conversation.css';
import './styles/inspector.css';
import './styles/pages.css';
import { App } from './components/App';

render(<App />, document.getElementById('page')!);
