//! One of several programs that use a session at the same time:
//!     together FILE APP USER SESSION N NAME
//! It appends N events whose author is NAME, and follows the session until it has seen N events of two other
//! authors, or 30 seconds have passed. It prints how many events it saw of each author, as JSON. It fails if
//! it has not seen them all.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::json;
use seslite::{AppendOptions, CreateOptions, FollowOptions, Followed, Follower, Key, Store};

const PATIENCE: Duration = Duration::from_secs(30);

type Failure = Box<dyn std::error::Error>;
type Counts = BTreeMap<String, usize>;

/// Counts what comes within a time. False: nothing came.
fn follow(follower: &mut Follower, wait: Duration, counts: &mut Counts) -> Result<bool, Failure> {
    match follower.next(Some(wait))? {
        Followed::Event { event, .. } => *counts.entry(event.author().to_owned()).or_default() += 1,
        Followed::Reset { .. } => return Err("the session was cut or deleted".into()),
        Followed::Nothing => return Ok(false),
    }
    Ok(true)
}

/// Whether N events of this author and of two others were seen.
fn complete(counts: &Counts, n: usize, name: &str) -> bool {
    let of_others = counts.iter().filter(|(author, count)| *author != name && **count >= n).count();
    counts.get(name).is_some_and(|count| *count >= n) && of_others >= 2
}

fn together(file: &str, key: Key<'_>, n: usize, name: &str) -> Result<bool, Failure> {
    let store = Store::open(file)?;
    store.get_or_create(key, None, &CreateOptions::new())?;
    let mut follower = store.follow(key, FollowOptions::new())?;
    let mut counts = Counts::new();
    for number in 1..=n {
        let event = json!({"author": name, "invocationId": name, "actions": {"stateDelta": {name: number}}});
        store.append(key, &event.to_string(), &AppendOptions::new())?;
        while follow(&mut follower, Duration::ZERO, &mut counts)? {}
    }
    let end = Instant::now() + PATIENCE;
    while !complete(&counts, n, name) && Instant::now() < end {
        follow(&mut follower, end - Instant::now(), &mut counts)?;
    }
    println!("{}", json!(counts));
    Ok(complete(&counts, n, name))
}

fn run(arguments: &[String]) -> Result<bool, Failure> {
    let [file, app, user, session, n, name] = arguments else {
        return Err("usage: together FILE APP USER SESSION N NAME".into());
    };
    together(file, Key::new(app, user, session), n.parse()?, name)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("together: {failure}");
            ExitCode::FAILURE
        }
    }
}
