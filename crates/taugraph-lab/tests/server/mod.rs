//! A local web server that behaves as well or badly as a test needs.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    pub path: String,
    /// The first byte of the requested range, if any.
    pub from: Option<usize>,
    pub if_range: Option<String>,
}

/// A response.
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
    /// Bytes of the body after which the connection ends, or hangs for a while.
    pub sent: usize,
    pub hang: Duration,
}

impl Answer {
    pub fn status(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new(), sent: usize::MAX, hang: Duration::ZERO }
    }

    /// The whole file.
    pub fn whole(bytes: &[u8]) -> Self {
        let headers = vec![("Content-Length", bytes.len().to_string())];
        Self { headers, body: bytes.to_vec(), ..Self::status(200) }
    }

    /// Like a well-behaved server: the requested range, unless its condition fails.
    pub fn ranged(bytes: &[u8], version: &str, request: &Request) -> Self {
        let is_same = request.if_range.as_deref().is_none_or(|wanted| wanted == version);
        let mut answer = match request.from.filter(|_| is_same) {
            Some(from) if from < bytes.len() => {
                let range = format!("bytes {from}-{}/{}", bytes.len() - 1, bytes.len());
                let mut answer = Self { status: 206, ..Self::whole(&bytes[from..]) };
                answer.headers.push(("Content-Range", range));
                answer
            }
            Some(_) => Self::status(416),
            None => Self::whole(bytes),
        };
        answer.headers.push(("ETag", version.to_string()));
        answer
    }

    /// Ends after this many bytes of the body.
    pub fn cut(self, sent: usize) -> Self {
        Self { sent, ..self }
    }

    /// Keeps the connection open for this long after the last byte.
    pub fn hanging(self, hang: Duration) -> Self {
        Self { hang, ..self }
    }
}

/// A server that lives as long as the test.
pub struct Server {
    port: u16,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// Answers each request with the result of `answer`, which gets the number of earlier requests.
    pub fn start(answer: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&requests), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &seen, &*answer));
            }
        });
        Self { port, requests }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }
}

/// Clients may disconnect; that is part of the tests.
fn serve(stream: TcpStream, seen: &Mutex<Vec<Request>>, answer: &dyn Fn(&Request, usize) -> Answer) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut request = Request::default();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 0) && line != "\r\n" {
        if let Some(rest) = line.strip_prefix("GET ") {
            request.path = rest.split(' ').next().unwrap_or_default().to_string();
        } else if let Some((name, value)) = line.split_once(':') {
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "range" => {
                    let first = value.strip_prefix("bytes=").and_then(|range| range.strip_suffix('-'));
                    request.from = first.and_then(|first| first.parse().ok());
                }
                "if-range" => request.if_range = Some(value.to_string()),
                _ => {}
            }
        }
        line.clear();
    }
    let number = {
        let mut seen = seen.lock().unwrap();
        seen.push(request.clone());
        seen.len() - 1
    };
    let answer = answer(&request, number);
    let mut head = format!("HTTP/1.1 {} X\r\nConnection: close\r\n", answer.status);
    for (name, value) in &answer.headers {
        head += &format!("{name}: {value}\r\n");
    }
    let mut stream = stream;
    let sent = &answer.body[..answer.body.len().min(answer.sent)];
    let _ = stream.write_all((head + "\r\n").as_bytes()).and_then(|()| stream.write_all(sent));
    let _ = stream.flush();
    std::thread::sleep(answer.hang);
}
