//! `taugraph-lab datasets`, with a local web server. Tests that need the real files take them from TAUGRAPH_DATA, and report that
//! they were skipped without it.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Done, Folder, real_files};
use crate::server::{Answer, Server};

fn run(folder: &Folder, line: &str) -> Done {
    folder.run(&format!("datasets {line}"))
}

fn ok(folder: &Folder, line: &str) -> String {
    folder.ok(&format!("datasets {line}"))
}

/// The length of glass.data, as `show` has it.
fn length_of_glass(folder: &Folder) -> usize {
    let json: serde_json::Value = serde_json::from_str(&ok(folder, "show glass --json -")).unwrap();
    json["files"][0]["bytes"].as_u64().unwrap() as usize
}

#[test]
fn sets_are_listed_and_described() {
    let folder = Folder::new();
    let out = ok(&folder, "list");
    assert_eq!(out.lines().count(), 16);
    assert_eq!(out.lines().nth(1), Some("glass                        214         9        6  no"));
    assert!(out.contains("arcene                       200    10,000        2  no\n"), "{out}");
    ok(&folder, "list --json list.json");
    let json = folder.json("list.json");
    assert_eq!(
        (json.as_array().unwrap().len(), &json[4]["name"], &json[4]["here"]),
        (15, &"wine".into(), &"no".into())
    );

    let out = ok(&folder, "show leaf");
    for part in [
        "Leaf (leaf)",
        "340 rows",
        "CC BY 4.0",
        "Marçal",
        "a mirror's copy",
        "37e7fdefa5aabebe",
        "fetch leaf",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let json: serde_json::Value = serde_json::from_str(&ok(&folder, "show glass --json -")).unwrap();
    let url = "https://archive.ics.uci.edu/ml/machine-learning-databases/glass/glass.data";
    assert_eq!((&json["files"][0]["url"], &json["note"]), (&url.into(), &serde_json::Value::Null));
}

#[test]
fn wrong_words_are_told() {
    let folder = Folder::new();
    for (line, code, part) in [
        ("show glas", 2, "did you mean glass?"),
        ("fetch glass breast", 2, "did you mean breast-cancer-wisconsin or"),
        ("path nothing-like-it", 2, "there are glass, breast-cancer-wisconsin"),
        ("fetch", 2, "NAME"),
        ("fetch --all glass", 2, "cannot be used with"),
        ("fetch glass --from ftp://example.org/", 2, "only http:// and https://"),
        ("fetch glass --from no-such-folder", 2, "there is no such folder"),
        ("path glass", 3, "get it with: taugraph-lab datasets fetch glass"),
        ("fetch leaf", 3, "leaf.csv cannot be downloaded from the archive"),
    ] {
        let done = run(&folder, line);
        assert_eq!(done.code, Some(code), "{line}: {}", done.err);
        assert!(done.err.contains(part) && done.out.is_empty(), "{line}: {}", done.err);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    // No folder for downloads at all.
    let mut nowhere = folder.command("datasets fetch glass");
    for variable in ["TAUGRAPH_CACHE", "XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
        nowhere.env_remove(variable);
    }
    let done = Done::from(nowhere.output().unwrap());
    assert_eq!(done.code, Some(4), "{}", done.err);
    assert!(done.err.contains("set TAUGRAPH_CACHE"), "{}", done.err);
}

#[test]
fn a_server_without_the_file() {
    let folder = Folder::new();
    let server = Server::start(|_, _| Answer::status(404));
    let done = run(&folder, &format!("fetch glass --from {}", server.url()));
    let expected = format!("error: {}/glass/glass.data: the server answered 404 (not found)\n", server.url());
    assert_eq!((done.code, done.err, done.out), (Some(3), expected, String::new()));
    // Several sets: each is tried, and all that failed are named.
    let done = run(&folder, &format!("fetch glass wine --from {}", server.url()));
    assert_eq!(done.code, Some(3));
    assert!(done.err.contains("2 of 2 sets were not fetched: glass, wine"), "{}", done.err);
}

#[test]
fn wrong_bytes_are_refused() {
    let folder = Folder::new();
    let length = length_of_glass(&folder);
    let server = Server::start(move |_, _| Answer::whole(&vec![b'x'; length]));
    let done = run(&folder, &format!("fetch glass --from {}", server.url()));
    assert_eq!(done.code, Some(3));
    assert!(
        done.err.contains("dd67373f4baf2807345df02cbfef2093d342e61ad0d82a4fb79af43ef8ce449d was expected")
    );
    assert!(ok(&folder, "list").contains("        6  no\n"));
    // In a folder, too; and what was put among the downloads by hand.
    std::fs::create_dir_all(folder.file("mirror/glass")).unwrap();
    folder.write("mirror/glass/glass.data", "1,2,3\n");
    let done = run(&folder, "fetch glass --from mirror");
    assert_eq!(done.code, Some(3));
    assert!(done.err.contains("there are 6 bytes, but 11903 were expected"), "{}", done.err);
    std::fs::create_dir_all(folder.file("cache/glass")).unwrap();
    folder.write("cache/glass/glass.data", vec![b'x'; length]);
    assert!(ok(&folder, "list").contains("        6  altered\n"));
    assert_eq!(run(&folder, "path glass").code, Some(3));
}

/// Starts a download from a server that stops in the middle, and waits for the first bytes.
#[cfg(unix)]
fn hanging_download(folder: &Folder, server: &Server, sent: u64) -> Child {
    let line = format!("datasets fetch glass --from {}", server.url());
    let mut child = folder.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let part = folder.file("cache/glass/glass.data.part");
    for _ in 0..3_000 {
        if part.metadata().is_ok_and(|data| data.len() == sent) {
            return child;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let _ = child.kill();
    panic!("nothing arrived: {}", Done::from(child.wait_with_output().unwrap()).err);
}

#[cfg(unix)]
fn signal(child: Child, name: &str) -> Done {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    child.wait_with_output().unwrap().into()
}

/// Ctrl-C and a kill leave a part that the next run resumes.
#[cfg(unix)]
#[test]
fn an_interrupted_download_can_be_continued() {
    let folder = Folder::new();
    let length = length_of_glass(&folder);
    let server = Server::start(move |request, _| {
        let hour = Duration::from_secs(3600);
        Answer::ranged(&vec![b'x'; length], "\"v1\"", request).cut(1_000).hanging(hour)
    });
    let done = signal(hanging_download(&folder, &server, 1_000), "-INT");
    assert_eq!(done.code, Some(130), "{}", done.err);
    assert!(ok(&folder, "list").contains("        6  in part\n"));
    let done = signal(hanging_download(&folder, &server, 2_000), "-KILL");
    assert_eq!(done.code, None);
    let asked: Vec<Option<usize>> = server.requests().iter().map(|request| request.from).collect();
    assert_eq!(asked, [None, Some(1_000)]);
    assert_eq!(run(&folder, "path glass").code, Some(3));
}

#[cfg(unix)]
#[test]
fn a_killed_download_of_a_real_file_is_completed() {
    let Some(real) = real_files("no killed download of a real file was completed") else { return };
    let bytes = std::fs::read(real.join("glass").join("glass.data")).unwrap();
    let folder = Folder::new();
    let served = bytes.clone();
    let server = Server::start(move |request, number| {
        let answer = Answer::ranged(&served, "\"v1\"", request);
        if number == 0 { answer.cut(5_000).hanging(Duration::from_secs(3600)) } else { answer }
    });
    signal(hanging_download(&folder, &server, 5_000), "-KILL");
    let done = run(&folder, &format!("fetch glass --from {}", server.url()));
    assert_eq!(done.code, Some(0), "{}", done.err);
    assert_eq!(server.requests()[1].from, Some(5_000));
    assert!(std::fs::read(folder.file("cache/glass/glass.data")).unwrap() == bytes);
    assert_eq!(std::fs::read_dir(folder.file("cache/glass")).unwrap().count(), 1);
}

#[test]
fn every_real_set_is_fetched() {
    let Some(real) = real_files("no real set was fetched") else { return };
    // Over HTTP, in the layout of the folder; then from the folder itself.
    let root = real.clone();
    let server = Server::start(move |request, _| {
        match std::fs::read(root.join(request.path.trim_start_matches('/'))) {
            Ok(bytes) => Answer::ranged(&bytes, "\"v1\"", request),
            Err(_) => Answer::status(404),
        }
    });
    for origin in [server.url(), real.display().to_string()] {
        let folder = Folder::new();
        let done = run(&folder, &format!("fetch --all --from {origin}"));
        assert_eq!((done.code, done.out.as_str()), (Some(0), ""), "{}", done.err);
        assert!(
            done.err.contains("glass: 11.6 KiB, checked, in ") && !done.err.contains('\u{1b}'),
            "{}",
            done.err
        );
        let list = ok(&folder, "list");
        assert_eq!(list.matches("  yes\n").count(), 15, "{list}");
        assert_eq!(ok(&folder, "path spect"), format!("{}\n", folder.file("cache/spect").display()));
        let again = run(&folder, "fetch glass");
        assert!(again.err.starts_with("glass: already here, checked, in "), "{}", again.err);
        assert_eq!(run(&folder, "fetch glass --quiet").err, "");
    }
    // The folder of TAUGRAPH_DATA needs no fetching.
    let folder = Folder::new();
    let done = Done::from(folder.command("datasets path wine").env("TAUGRAPH_DATA", &real).output().unwrap());
    assert_eq!(done.out, format!("{}\n", real.join("wine").display()));
}
