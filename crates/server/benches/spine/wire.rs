//! An HTTP/1.1 client that adds next to nothing: one connection, one request at a time, blocking.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

/// A connection to a server.
pub(crate) struct Wire {
    reader: BufReader<TcpStream>,
    host: String,
    /// Header lines that go with every request.
    headers: &'static str,
}

/// An answer and when its first byte of content came.
pub(crate) struct Answered {
    /// Its status.
    pub status: u16,
    /// Its content.
    pub body: Vec<u8>,
    /// From the request to the first byte of the content.
    pub first_byte: Duration,
    /// From the request to the last one.
    pub took: Duration,
}

impl Answered {
    /// The content as JSON.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Wire {
    /// Connects to `host:port`.
    pub(crate) fn to(host: &str) -> Self {
        let stream = TcpStream::connect(host).unwrap();
        stream.set_nodelay(true).unwrap();
        Self { reader: BufReader::new(stream), host: host.to_owned(), headers: "" }
    }

    /// The same, with the key that a model wants to see.
    pub(crate) fn to_model(host: &str) -> Self {
        Self { headers: "authorization: Bearer none\r\n", ..Self::to(host) }
    }

    /// The same, with these header lines.
    pub(crate) fn with(self, headers: &'static str) -> Self {
        Self { headers, ..self }
    }

    /// Sends a body and reads the whole answer; anything but a success is a panic with what was said.
    pub(crate) fn post(&mut self, path: &str, body: &Value) -> Answered {
        let answered = self.send("POST", path, &body.to_string());
        let said = String::from_utf8_lossy(&answered.body);
        assert!(answered.status < 300, "POST {path} answered {}: {said}", answered.status);
        answered
    }

    /// Reads a route.
    pub(crate) fn get(&mut self, path: &str) -> Answered {
        self.send("GET", path, "")
    }

    fn send(&mut self, method: &str, path: &str, body: &str) -> Answered {
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\n\
             {}content-length: {}\r\n\r\n{body}",
            self.host,
            self.headers,
            body.len()
        );
        let begin = Instant::now();
        self.reader.get_mut().write_all(request.as_bytes()).unwrap();
        let status = self.line().split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let (mut length, mut chunked) = (0, false);
        loop {
            let line = self.line().to_ascii_lowercase();
            match line.split_once(':') {
                Some(("content-length", value)) => length = value.trim().parse().unwrap(),
                Some(("transfer-encoding", _)) => chunked = true,
                Some(_) => {}
                None => break,
            }
        }
        let mut body = Vec::new();
        let mut first_byte = None;
        if chunked {
            loop {
                let size = usize::from_str_radix(self.line().trim(), 16).unwrap();
                first_byte.get_or_insert(begin.elapsed());
                self.take(size, &mut body);
                self.line();
                if size == 0 {
                    break;
                }
            }
        } else {
            first_byte = Some(begin.elapsed());
            self.take(length, &mut body);
        }
        let took = begin.elapsed();
        Answered { status, body, first_byte: first_byte.unwrap_or(took), took }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn take(&mut self, size: usize, into: &mut Vec<u8>) {
        let from = into.len();
        into.resize(from + size, 0);
        self.reader.read_exact(&mut into[from..]).unwrap();
    }
}
