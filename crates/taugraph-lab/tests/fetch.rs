//! Fetching over real HTTP into real folders: the good case, and everything that breaks on the way.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use crate::server::{Answer, Request, Server};
use taugraph::progress::{Progress, Silent};
use taugraph_lab::datasets::text::{Delimiter, TextFile, rows};
use taugraph_lab::datasets::{
    DatasetInfo, Error, Fetched, FileInfo, LabeledTable, Origin, Patience, Presence, Result, Store,
    fetch_with, load, sha256,
};

/// A little set: numbers and a class in one file of 100,000 bytes or so.
fn text() -> &'static [u8] {
    static TEXT: std::sync::OnceLock<Vec<u8>> = std::sync::OnceLock::new();
    TEXT.get_or_init(|| (0..10_000).map(|i| format!("{i},{},a\n", i % 7)).collect::<String>().into_bytes())
}

fn read_little(files: &[TextFile]) -> Result<LabeledTable> {
    let mut table =
        LabeledTable { feature_names: vec!["x".into(), "y".into()], values: Vec::new(), labels: Vec::new() };
    for row in files.iter().flat_map(|file| rows(file, Delimiter::Comma)) {
        table.values.extend([row.number(0)?, row.number(1)?]);
        table.labels.push(row.label(2)?);
    }
    Ok(table)
}

fn little(address: Option<&'static str>) -> DatasetInfo {
    let bytes = text();
    let file =
        FileInfo { name: "little.data", bytes: bytes.len() as u64, sha256: sha256(bytes).leak(), address };
    DatasetInfo {
        id: "little",
        title: "Little",
        rows: 10_000,
        features: 2,
        classes: 1,
        contents: "",
        license: "",
        citation: "",
        folder: "little",
        files: vec![file].leak(),
        note: None,
        reader: read_little,
    }
}

const QUICK: Patience = Patience {
    attempts: 3,
    pause: Duration::from_millis(5),
    connect: Duration::from_secs(5),
    silence: Duration::from_secs(20),
};

/// An empty cache, and how to fetch into it.
struct Cache {
    folder: tempfile::TempDir,
    store: Store,
}

impl Cache {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(None, Some(folder.path().to_path_buf()));
        Self { folder, store }
    }

    fn fetch(&self, server: &Server, patience: &Patience) -> Result<Fetched> {
        self.fetch_as(&little(None), server, patience)
    }

    fn fetch_as(&self, info: &DatasetInfo, server: &Server, patience: &Patience) -> Result<Fetched> {
        fetch_with(info, &Origin::Mirror(server.url()), &self.store, &Silent, patience)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join("little").join(name)
    }

    fn names(&self) -> Vec<String> {
        let Ok(entries) = self.folder.path().join("little").read_dir() else { return Vec::new() };
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The set is complete, and there are no other files.
    fn check(&self) {
        assert_eq!(self.names(), ["little.data"]);
        assert!(std::fs::read(self.file("little.data")).unwrap() == text());
        let table = load(&little(None), &self.store).unwrap();
        assert_eq!((table.n_rows(), table.values[2 * 9_999]), (10_000, 9_999.0));
    }
}

fn message<T: std::fmt::Debug>(result: Result<T>) -> String {
    result.unwrap_err().to_string()
}

#[test]
fn a_good_server_is_asked_once() {
    let (server, cache) = (Server::start(|_, _| Answer::whole(text())), Cache::new());
    assert!(matches!(cache.store.presence(&little(None)), Presence::Absent));
    let fetched = cache.fetch(&server, &QUICK).unwrap();
    assert_eq!(fetched, Fetched { folder: cache.folder.path().join("little"), was_here: false });
    cache.check();
    assert!(cache.fetch(&server, &QUICK).unwrap().was_here);
    let expected = Request { path: "/little/little.data".into(), ..Request::default() };
    assert_eq!(server.requests(), [expected]);
}

#[test]
fn a_connection_that_breaks_is_continued() {
    let server = Server::start(|request, number| {
        Answer::ranged(text(), "\"v1\"", request).cut(if number < 2 { 30_000 } else { usize::MAX })
    });
    let cache = Cache::new();
    cache.fetch(&server, &QUICK).unwrap();
    cache.check();
    let asked: Vec<_> =
        server.requests().into_iter().map(|request| (request.from, request.if_range)).collect();
    let version = Some("\"v1\"".to_string());
    assert_eq!(asked, [(None, None), (Some(30_000), version.clone()), (Some(60_000), version)]);
}

#[test]
fn the_next_run_goes_on_where_the_last_one_stopped() {
    let server = Server::start(|request, number| {
        Answer::ranged(text(), "\"v1\"", request).cut(if number == 0 { 50_000 } else { usize::MAX })
    });
    let cache = Cache::new();
    let once = Patience { attempts: 1, ..QUICK };
    let error = message(cache.fetch(&server, &once));
    assert!(error.contains("/little/little.data") && error.contains("50000 of"), "{error}");
    assert_eq!(cache.names(), ["little.data.part", "little.data.part.from"]);
    // A partial file does not count as the set.
    assert!(matches!(cache.store.presence(&little(None)), Presence::Partial));
    assert!(message(load(&little(None), &cache.store)).contains("taugraph-lab datasets fetch little"));
    cache.fetch(&server, &once).unwrap();
    assert_eq!(server.requests()[1].from, Some(50_000));
    cache.check();
}

#[test]
fn a_server_without_ranges_sends_everything_again() {
    let server =
        Server::start(|_, number| Answer::whole(text()).cut(if number == 0 { 50_000 } else { usize::MAX }));
    let cache = Cache::new();
    cache.fetch(&server, &QUICK).unwrap();
    assert_eq!(server.requests()[1].from, Some(50_000));
    cache.check();
}

#[test]
fn another_version_starts_over() {
    let server = Server::start(|request, number| match number {
        0 => Answer::ranged(&vec![b'x'; text().len()], "\"old\"", request).cut(50_000),
        _ => Answer::ranged(text(), "\"new\"", request),
    });
    let cache = Cache::new();
    cache.fetch(&server, &QUICK).unwrap();
    assert_eq!(server.requests()[1].if_range.as_deref(), Some("\"old\""));
    assert_eq!(server.requests().len(), 2);
    cache.check();
}

/// Without a version the server cannot know that the first half is of another file; the check does.
#[test]
fn a_part_that_does_not_fit_starts_over() {
    let server = Server::start(|request, number| {
        let mut answer = match number {
            0 => Answer::ranged(&vec![b'x'; text().len()], "", request).cut(50_000),
            _ => Answer::ranged(text(), "", request),
        };
        answer.headers.retain(|(name, _)| *name != "ETag");
        answer
    });
    let cache = Cache::new();
    cache.fetch(&server, &QUICK).unwrap();
    let asked: Vec<_> =
        server.requests().into_iter().map(|request| (request.from, request.if_range)).collect();
    assert_eq!(asked, [(None, None), (Some(50_000), None), (None, None)]);
    cache.check();
}

#[test]
fn a_range_that_was_not_asked_for_is_not_appended() {
    let server = Server::start(|request, number| match number {
        0 => Answer::ranged(text(), "\"v1\"", request).cut(50_000),
        1 => {
            let mut answer = Answer { status: 206, ..Answer::whole(&text()[10..]) };
            answer.headers.push(("Content-Range", format!("bytes 10-{}/{}", text().len() - 1, text().len())));
            answer
        }
        _ => Answer::ranged(text(), "\"v1\"", request),
    });
    let cache = Cache::new();
    cache.fetch(&server, &QUICK).unwrap();
    assert_eq!(server.requests()[2].from, None);
    cache.check();
}

#[test]
fn wrong_bytes_are_refused_and_not_kept() {
    let wrong: Vec<u8> = text().iter().rev().copied().collect();
    let found = sha256(&wrong);
    let server = Server::start(move |_, _| Answer::whole(&wrong));
    let cache = Cache::new();
    let error = message(cache.fetch(&server, &QUICK));
    for part in [server.url(), format!("is {found}"), format!("{} was expected", sha256(text()))] {
        assert!(error.contains(&part), "{error}");
    }
    assert_eq!((cache.names(), server.requests().len()), (Vec::<String>::new(), 1));
}

#[test]
fn a_wrong_length_is_refused() {
    let cache = Cache::new();
    let announced = Server::start(|_, _| Answer::whole(&text()[1..]));
    let error = message(cache.fetch(&announced, &QUICK));
    assert!(
        error.contains(&format!("there are {} bytes, but {}", text().len() - 1, text().len())),
        "{error}"
    );
    // Without an announced length: never more than the file's length is accepted.
    let endless = Server::start(|_, _| Answer { body: vec![b'x'; 10_000_000], ..Answer::status(200) });
    let error = message(cache.fetch(&endless, &QUICK));
    assert!(error.contains(&format!("but {} were expected", text().len())), "{error}");
    assert_eq!(cache.names(), Vec::<String>::new());
}

#[test]
fn a_status_is_told_with_its_address() {
    let cache = Cache::new();
    let server = Server::start(|_, _| Answer::status(404));
    let error = message(cache.fetch(&server, &QUICK));
    assert_eq!(error, format!("{}/little/little.data: the server answered 404 (not found)", server.url()));
    assert_eq!(server.requests().len(), 1);
    let server = Server::start(|_, _| Answer::status(403));
    assert!(message(cache.fetch(&server, &QUICK)).ends_with("403 (not allowed)"));
    // Temporary failures are retried, but not forever.
    let server = Server::start(|_, _| Answer::status(503));
    assert!(message(cache.fetch(&server, &QUICK)).contains("503"));
    assert_eq!(server.requests().len(), 3);
    assert_eq!(cache.names(), Vec::<String>::new());
    let server =
        Server::start(|_, number| if number < 2 { Answer::status(503) } else { Answer::whole(text()) });
    cache.fetch(&server, &QUICK).unwrap();
    cache.check();
}

#[test]
fn a_silent_server_is_not_waited_for_for_ever() {
    let hour = Duration::from_secs(3600);
    let cache = Cache::new();
    let server = Server::start(move |_, _| Answer::whole(text()).cut(1_000).hanging(hour));
    let short = Patience { attempts: 1, silence: Duration::from_secs(1), ..QUICK };
    assert!(matches!(cache.fetch(&server, &short), Err(Error::Transfer { .. })));
    assert_eq!(std::fs::metadata(cache.file("little.data.part")).unwrap().len(), 1_000);
}

#[test]
fn nobody_answers() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let cache = Cache::new();
    let origin = Origin::Mirror(format!("http://127.0.0.1:{port}/"));
    let error = message(fetch_with(&little(None), &origin, &cache.store, &Silent, &QUICK));
    assert!(error.starts_with(&format!("http://127.0.0.1:{port}/little/little.data: ")), "{error}");
    assert_eq!(cache.names(), Vec::<String>::new());
}

/// Cancels once this many bytes have arrived.
struct StopAfter(u64, AtomicU64);

impl Progress for StopAfter {
    fn advance(&self, steps: u64) {
        self.1.fetch_add(steps, Ordering::SeqCst);
    }

    fn canceled(&self) -> bool {
        self.1.load(Ordering::SeqCst) >= self.0
    }
}

#[test]
fn a_run_that_is_stopped_can_be_continued() {
    let server = Server::start(|request, _| Answer::ranged(text(), "\"v1\"", request));
    let cache = Cache::new();
    let origin = Origin::Mirror(server.url());
    let stop = StopAfter(40_000, AtomicU64::new(0));
    let stopped = fetch_with(&little(None), &origin, &cache.store, &stop, &QUICK);
    assert!(matches!(stopped, Err(Error::Canceled)), "{stopped:?}");
    let kept = std::fs::metadata(cache.file("little.data.part")).unwrap().len();
    assert!((40_000..text().len() as u64).contains(&kept), "{kept}");
    cache.fetch(&server, &QUICK).unwrap();
    assert_eq!(server.requests()[1].from, Some(kept as usize));
    cache.check();
}

#[test]
fn two_at_once_do_not_write_to_one_file() {
    // Both meet twice: when the request is there, and when the second fetch has been refused.
    let meeting = Arc::new(Barrier::new(2));
    let meeting_of_server = Arc::clone(&meeting);
    let server = Server::start(move |_, _| {
        meeting_of_server.wait();
        meeting_of_server.wait();
        Answer::whole(text())
    });
    let cache = Cache::new();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| cache.fetch(&server, &QUICK));
        meeting.wait();
        let second = cache.fetch(&server, &QUICK);
        meeting.wait();
        assert!(matches!(second, Err(Error::Busy { .. })), "{second:?}");
        first.join().unwrap().unwrap();
    });
    cache.check();
}

#[test]
fn a_mirror_may_have_either_layout() {
    let cut = |request: &Request, number: usize| match request.path.as_str() {
        "/data/little/little.data" => {
            Answer::ranged(text(), "\"v1\"", request).cut(if number < 2 { 50_000 } else { usize::MAX })
        }
        _ => Answer::status(404),
    };
    let server = Server::start(cut);
    let cache = Cache::new();
    let origin = Origin::Mirror(server.url() + "/data/");
    let info = little(Some("00001/little.data"));
    let once = Patience { attempts: 1, ..QUICK };
    assert!(fetch_with(&info, &origin, &cache.store, &Silent, &once).is_err());
    // The part from the second path survives another request to the first.
    fetch_with(&info, &origin, &cache.store, &Silent, &once).unwrap();
    let asked: Vec<_> = server.requests().into_iter().map(|request| (request.path, request.from)).collect();
    let (first, second) = ("/data/00001/little.data".to_string(), "/data/little/little.data".to_string());
    assert_eq!(asked, [(first.clone(), None), (second.clone(), None), (first, None), (second, Some(50_000))]);
    cache.check();
    let archive = Server::start(|request, _| match request.path.as_str() {
        "/00001/little.data" => Answer::whole(text()),
        _ => Answer::status(404),
    });
    let cache = Cache::new();
    cache.fetch_as(&info, &archive, &QUICK).unwrap();
    cache.check();
}

#[test]
fn a_folder_is_copied_and_checked() {
    let source = tempfile::tempdir().unwrap();
    std::fs::create_dir(source.path().join("little")).unwrap();
    let file = source.path().join("little").join("little.data");
    let cache = Cache::new();
    let origin = Origin::parse(source.path().to_str().unwrap()).unwrap();
    let get = || fetch_with(&little(None), &origin, &cache.store, &Silent, &QUICK);
    assert!(message(get()).contains("little.data cannot be read"));
    let mut wrong = text().to_vec();
    wrong[17] ^= 1;
    std::fs::write(&file, &wrong).unwrap();
    assert!(message(get()).contains(&sha256(&wrong)));
    std::fs::write(&file, [text(), b"x"].concat()).unwrap();
    assert!(matches!(get(), Err(Error::Length { .. })));
    assert_eq!(cache.names(), Vec::<String>::new());
    std::fs::write(&file, text()).unwrap();
    get().unwrap();
    cache.check();
}

#[test]
fn a_file_that_was_altered_is_refused_and_fetched_again() {
    let (server, cache) = (Server::start(|_, _| Answer::whole(text())), Cache::new());
    cache.fetch(&server, &QUICK).unwrap();
    let mut wrong = text().to_vec();
    wrong[17] ^= 1;
    std::fs::write(cache.file("little.data"), &wrong).unwrap();
    assert!(matches!(cache.store.presence(&little(None)), Presence::Altered(_)));
    let error = message(load(&little(None), &cache.store));
    assert!(error.contains(&sha256(&wrong)) && error.contains("fetch it again"), "{error}");
    cache.fetch(&server, &QUICK).unwrap();
    cache.check();
}

/// The user's own folder comes first, is never written, and is skipped if its contents are wrong.
#[test]
fn the_own_folder_comes_first() {
    let own = tempfile::tempdir().unwrap();
    std::fs::create_dir(own.path().join("little")).unwrap();
    let file = own.path().join("little").join("little.data");
    std::fs::write(&file, text()).unwrap();
    let cache = Cache::new();
    let both = Store::new(Some(own.path().into()), Some(cache.folder.path().into()));
    assert!(matches!(both.presence(&little(None)), Presence::Here(folder) if folder.starts_with(own.path())));
    std::fs::write(&file, "something else").unwrap();
    assert!(matches!(both.presence(&little(None)), Presence::Altered(_)));
    let server = Server::start(|_, _| Answer::whole(text()));
    fetch_with(&little(None), &Origin::Mirror(server.url()), &both, &Silent, &QUICK).unwrap();
    assert!(
        matches!(both.presence(&little(None)), Presence::Here(folder) if folder.starts_with(cache.folder.path()))
    );
    assert_eq!(std::fs::read(&file).unwrap(), b"something else");
    cache.check();
}

#[test]
fn origins_are_addresses_or_folders() {
    assert_eq!(
        Origin::parse("https://example.org/a").unwrap(),
        Origin::Mirror("https://example.org/a".into())
    );
    assert_eq!(Origin::parse(".").unwrap(), Origin::Folder(".".into()));
    for wrong in ["ftp://example.org", "http://", "/there/is/no/such/folder", ""] {
        assert!(matches!(Origin::parse(wrong), Err(Error::BadOrigin { .. })), "{wrong}");
    }
}

#[test]
fn what_the_archive_does_not_have_is_said() {
    let cache = Cache::new();
    let error = message(fetch_with(&little(None), &Origin::Archive, &cache.store, &Silent, &QUICK));
    assert!(
        error.contains("little.data cannot be downloaded from the archive") && error.contains("--from"),
        "{error}"
    );
    let nowhere = Store::new(None, None);
    assert!(matches!(
        fetch_with(&little(None), &Origin::Archive, &nowhere, &Silent, &QUICK),
        Err(Error::NoFolder)
    ));
}
