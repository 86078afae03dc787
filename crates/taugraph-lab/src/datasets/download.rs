//! Downloads one file over HTTP into a part file, verifies it, and renames it only if it is correct.
//!
//! Next to the part file `NAME.part` is `NAME.part.from`: the address, and the version reported by the server (a strong ETag, or the
//! date). A later run requests the rest on condition of that version. A server that has another version, or does not support
//! ranges, sends the whole file, and the part starts over.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use taugraph::progress::Progress;
use ureq::http::{HeaderMap, Response};
use ureq::{Agent, Body};

use super::store::{check, part_path, read_file};
use super::{Error, FileInfo, Result};

/// Retries and timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Maximum number of requests for one file, including the first.
    pub attempts: u32,
    /// Pause before the second request; it doubles with each.
    pub pause: Duration,
    /// Timeout for establishing a connection.
    pub connect: Duration,
    /// Timeout without receiving a byte.
    pub silence: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            attempts: 4,
            pause: Duration::from_millis(500),
            connect: Duration::from_secs(15),
            silence: Duration::from_secs(30),
        }
    }
}

/// Why a request did not reach the end of the file.
enum Trouble {
    /// Temporary: the next request may succeed.
    Passing(Error),
    /// Permanent.
    Lasting(Error),
}

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Trouble::Lasting(error)
    }
}

/// Fetches `url` to `folder`, where it appears under its name when its bytes are those of the registry. `advice` ends an error
/// about wrong bytes.
pub(super) fn download(
    url: &str,
    file: &FileInfo,
    folder: &Path,
    advice: &str,
    progress: &dyn Progress,
    patience: &Patience,
) -> Result<()> {
    let mut part = Part::open(url, file, folder)?;
    if let Ok(Some(_)) = read_file(folder, file) {
        // Another process was faster.
        return part.remove();
    }
    let done = part.complete(advice, progress, patience);
    if done.is_err() {
        part.remove_if_empty();
    }
    done
}

/// Sleeps in short steps, so that Ctrl-C is noticed.
fn wait(pause: Duration, progress: &dyn Progress) -> Result<()> {
    let begin = Instant::now();
    while begin.elapsed() < pause {
        if progress.canceled() {
            return Err(Error::Canceled);
        }
        std::thread::sleep(Duration::from_millis(20).min(pause));
    }
    Ok(())
}

fn agent(url: &str, patience: &Patience) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .timeout_resolve(Some(patience.connect))
        .timeout_connect(Some(patience.connect))
        .timeout_recv_response(Some(patience.silence))
        .timeout_per_read(Some(patience.silence))
        .user_agent(concat!("taugraph/", env!("CARGO_PKG_VERSION")))
        // Lengths and ranges must refer to the file, not to a compressed form.
        .accept_encoding("identity");
    // A proxy would resolve localhost to itself.
    let config = if is_own_machine(url) { config.proxy(None) } else { config };
    config.build().new_agent()
}

fn is_own_machine(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => host,
        _ => authority,
    };
    matches!(host, "localhost" | "[::1]") || host.starts_with("127.")
}

/// A part file, locked against other processes.
struct Part<'a> {
    url: &'a str,
    file: &'a FileInfo,
    folder: &'a Path,
    path: PathBuf,
    open: File,
    /// Bytes that have arrived.
    length: u64,
    /// The version reported by the server.
    version: Option<String>,
}

impl<'a> Part<'a> {
    fn open(url: &'a str, file: &'a FileInfo, folder: &'a Path) -> Result<Self> {
        let path = part_path(folder, file);
        let unwritable = |source| Error::Write { path: path.clone(), source };
        std::fs::create_dir_all(folder).map_err(unwritable)?;
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let open = open.map_err(unwritable)?;
        // On systems without file locks, two downloads at once corrupt each other's part, and verification detects it.
        if let Err(TryLockError::WouldBlock) = open.try_lock() {
            return Err(Error::Busy { path });
        }
        let length = open.metadata().map_err(unwritable)?.len();
        let mut part = Self { url, file, folder, path, open, length, version: None };
        match std::fs::read_to_string(part.origin_path())
            .ok()
            .as_deref()
            .and_then(|text| text.split_once('\n'))
        {
            Some((from, version)) if from == url && part.length <= file.bytes => {
                part.version = Some(version.to_string()).filter(|version| !version.is_empty());
            }
            // From another address, or too long. It stays until there is something better.
            _ => part.length = 0,
        }
        Ok(part)
    }

    /// Repeats requests until the file is complete, an error is permanent, or the retries run out.
    fn complete(&mut self, advice: &str, progress: &dyn Progress, patience: &Patience) -> Result<()> {
        let agent = agent(self.url, patience);
        let mut pause = patience.pause;
        let mut attempt = 1;
        loop {
            let received = self.receive(&agent, advice, progress);
            match received.and_then(|is_resumed| self.finish(advice, is_resumed)) {
                Ok(()) => return Ok(()),
                Err(Trouble::Lasting(error)) => return Err(error),
                Err(Trouble::Passing(error)) if attempt >= patience.attempts => return Err(error),
                Err(Trouble::Passing(_)) => wait(pause, progress)?,
            }
            pause = pause.saturating_mul(2);
            attempt += 1;
        }
    }

    fn origin_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".from");
        name.into()
    }

    fn unwritable(&self, source: std::io::Error) -> Error {
        Error::Write { path: self.path.clone(), source }
    }

    fn start_over(&mut self) -> Result<()> {
        self.length = 0;
        self.version = None;
        self.open.set_len(0).map_err(|source| self.unwritable(source))
    }

    fn remove(self) -> Result<()> {
        let _ = std::fs::remove_file(self.origin_path());
        std::fs::remove_file(&self.path).map_err(|source| self.unwritable(source))
    }

    fn remove_if_empty(self) {
        if self.open.metadata().is_ok_and(|data| data.len() == 0) {
            let _ = self.remove();
        }
    }

    /// Requests the missing bytes and appends them. Returns whether there was a part to append to.
    fn receive(&mut self, agent: &Agent, advice: &str, progress: &dyn Progress) -> Result<bool, Trouble> {
        progress.stage(self.file.name, Some(self.file.bytes));
        let had = self.length;
        if had == self.file.bytes {
            return Ok(true);
        }
        let mut request = agent.get(self.url);
        if had > 0 {
            request = request.header("Range", format!("bytes={had}-"));
            if let Some(version) = &self.version {
                request = request.header("If-Range", version);
            }
        }
        let response = request.call().map_err(|error| self.failed(error))?;
        self.accept(&response, advice)?;
        progress.advance(self.length);
        let is_resumed = self.length > 0;
        self.append(response.into_body(), advice, progress)?;
        Ok(is_resumed)
    }

    /// Interprets the status and headers; afterwards the body begins where the part ends.
    fn accept(&mut self, response: &Response<Body>, advice: &str) -> Result<(), Trouble> {
        let headers = response.headers();
        match response.status().as_u16() {
            200 => {
                self.start_over()?;
                let announced = text_of(headers, "content-length").and_then(|text| text.parse().ok());
                if let Some(found) = announced.filter(|found| *found != self.file.bytes) {
                    self.discard();
                    return Err(Trouble::Lasting(self.wrong_length(found, advice)));
                }
            }
            206 => {
                let range = text_of(headers, "content-range").and_then(parse_content_range);
                let is_the_rest = range.is_some_and(|(first, total)| {
                    first == self.length && total.is_none_or(|total| total == self.file.bytes)
                });
                if !is_the_rest {
                    self.start_over()?;
                    return Err(Trouble::Passing(
                        self.trouble("the server sent a range that was not requested"),
                    ));
                }
            }
            416 => {
                self.start_over()?;
                return Err(Trouble::Passing(self.status(416)));
            }
            status @ (408 | 429 | 500..=599) => return Err(Trouble::Passing(self.status(status))),
            status => return Err(Trouble::Lasting(self.status(status))),
        }
        let version = strong_version(headers);
        let origin = format!("{}\n{}", self.url, version.as_deref().unwrap_or_default());
        let path = self.origin_path();
        std::fs::write(&path, origin).map_err(|source| Error::Write { path, source })?;
        self.version = version;
        Ok(())
    }

    /// Every block is written before the next is read: whatever ends the process, the download can resume.
    fn append(&mut self, body: Body, advice: &str, progress: &dyn Progress) -> Result<(), Trouble> {
        let mut reader = body.into_reader();
        let mut block = vec![0; 1 << 15];
        // Bytes from another address may follow ours.
        self.open.set_len(self.length).map_err(|source| self.unwritable(source))?;
        self.open.seek(SeekFrom::Start(self.length)).map_err(|source| self.unwritable(source))?;
        loop {
            if progress.canceled() {
                return Err(Trouble::Lasting(Error::Canceled));
            }
            let read = match reader.read(&mut block) {
                Ok(0) => break,
                Ok(read) => read,
                Err(source) if source.kind() == ErrorKind::Interrupted => continue,
                Err(source) => return Err(Trouble::Passing(self.trouble(&source.to_string()))),
            };
            // A server that never stops sending must not fill the disk.
            if self.length + read as u64 > self.file.bytes {
                let found = self.length + read as u64;
                self.discard();
                return Err(Trouble::Lasting(self.wrong_length(found, advice)));
            }
            self.open.write_all(&block[..read]).map_err(|source| self.unwritable(source))?;
            self.length += read as u64;
            progress.advance(read as u64);
        }
        match self.length == self.file.bytes {
            true => Ok(()),
            false => Err(Trouble::Passing(self.trouble("the connection ended"))),
        }
    }

    /// Verifies the bytes and renames the file, while holding the lock.
    fn finish(&mut self, advice: &str, is_resumed: bool) -> Result<(), Trouble> {
        let mut bytes = Vec::new();
        let unreadable = |source| Error::Read { path: self.path.clone(), source };
        self.open.seek(SeekFrom::Start(0)).map_err(unreadable)?;
        (&self.open).take(self.file.bytes + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        match check(&bytes, self.file, self.url, || advice.to_string()) {
            Ok(()) => {}
            // The earlier part may be to blame.
            Err(error) if is_resumed => {
                self.start_over()?;
                return Err(Trouble::Passing(error));
            }
            Err(error) => {
                self.discard();
                return Err(Trouble::Lasting(error));
            }
        }
        self.open.sync_all().map_err(|source| self.unwritable(source))?;
        let target = self.folder.join(self.file.name);
        std::fs::rename(&self.path, &target).map_err(|source| Error::Write { path: target, source })?;
        let _ = std::fs::remove_file(self.origin_path());
        Ok(())
    }

    /// Deletes bytes that can never become the file. If that fails, verification detects them later.
    fn discard(&mut self) {
        let _ = self.start_over();
        let _ = std::fs::remove_file(self.origin_path());
        let _ = std::fs::remove_file(&self.path);
    }

    fn failed(&self, error: ureq::Error) -> Trouble {
        // A refused certificate is reported as an I/O error about data.
        let is_refused = matches!(&error, ureq::Error::Io(source) if source.kind() == ErrorKind::InvalidData);
        let is_lasting = matches!(
            error,
            ureq::Error::BadUri(_)
                | ureq::Error::Http(_)
                | ureq::Error::HostNotFound
                | ureq::Error::TooManyRedirects
                | ureq::Error::RedirectFailed
                | ureq::Error::InvalidProxyUrl
                | ureq::Error::Tls(_)
                | ureq::Error::Rustls(_)
        );
        let error = self.trouble(&error.to_string());
        if is_lasting || is_refused { Trouble::Lasting(error) } else { Trouble::Passing(error) }
    }

    fn trouble(&self, problem: &str) -> Error {
        let arrived = match self.length {
            0 => String::new(),
            length => format!(
                " ({length} of {} bytes have arrived; the same command resumes from there)",
                self.file.bytes
            ),
        };
        Error::Transfer { url: self.url.to_string(), problem: format!("{problem}{arrived}") }
    }

    fn status(&self, status: u16) -> Error {
        let meaning = match status {
            401 | 403 => " (not allowed)",
            404 | 410 => " (not found)",
            416 => " (no such range)",
            429 => " (too many requests)",
            500..=599 => " (server error)",
            _ => "",
        };
        Error::Status { url: self.url.to_string(), status, meaning }
    }

    fn wrong_length(&self, found: u64, advice: &str) -> Error {
        let (place, advice) = (self.url.to_string(), advice.to_string());
        Error::Length { place, expected: self.file.bytes, found, advice }
    }
}

fn text_of<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

/// First byte and length of the whole, from `bytes 10-99/100`.
fn parse_content_range(text: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = text.strip_prefix("bytes ")?.split_once('/')?;
    let first = range.split_once('-')?.0.parse().ok()?;
    match total {
        "*" => Some((first, None)),
        total => Some((first, Some(total.parse().ok()?))),
    }
}

/// The value for If-Range: a strong ETag, or else a date.
fn strong_version(headers: &HeaderMap) -> Option<String> {
    let tag = text_of(headers, "etag").filter(|tag| tag.starts_with('"'));
    tag.or_else(|| text_of(headers, "last-modified")).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_hosts() {
        assert_eq!(parse_content_range("bytes 10-99/100"), Some((10, Some(100))));
        assert_eq!(parse_content_range("bytes 0-1/*"), Some((0, None)));
        for wrong in ["", "bytes */100", "bytes 1/2", "items 1-2/3", "bytes -1-2/3"] {
            assert_eq!(parse_content_range(wrong), None, "{wrong}");
        }
        for own in ["http://127.0.0.1:80/x", "http://localhost/", "http://[::1]:8080/a", "https://127.1.2.3"]
        {
            assert!(is_own_machine(own), "{own}");
        }
        for other in ["http://example.org/127.0.0.1", "http://localhost.example.org/", "http://[::2]:80/"] {
            assert!(!is_own_machine(other), "{other}");
        }
    }
}
