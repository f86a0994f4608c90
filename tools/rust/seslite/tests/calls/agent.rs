//! The agent layer.

use crate::common::{fixture, refused, KEY};
use seslite::*;

#[test]
fn an_event_is_built_and_read() {
    let f = fixture();
    let mut builder = Builder::new(&f.store, "agent", Some("i1")).unwrap();
    builder.thought("hm").unwrap().text("It is ").unwrap().text("\"warm\".").unwrap();
    builder.call(Some("c1"), "weather", r#"{"city":"Bern"}"#).unwrap();
    builder.part(r#"{"fileData":{"fileUri":"x"}}"#).unwrap();
    builder.delta(r#"{"k":1}"#).unwrap().field("customMetadata", r#"{"a":1}"#).unwrap();
    builder.field_string("branch", "b").unwrap().action("skipSummarization", "false").unwrap();
    builder.action_string("transferToAgent", "other").unwrap();
    builder.field("usageMetadata", r#"{"promptTokenCount":3}"#).unwrap();
    refused(builder.content("[]").map(drop), Code::Invalid);
    let event = builder.json().unwrap().to_owned();
    drop(builder);

    let content = Content::read(&f.store, &event).unwrap();
    assert_eq!(content.text(), Some("It is \"warm\"."));
    assert_eq!(
        content.parts().map(|part| part.is_thought()).collect::<Vec<_>>(),
        [true, false, false, false, false]
    );
    let call = content.calls().next().unwrap();
    assert_eq!(
        (call.id(), call.name(), call.json()),
        (Some("c1"), Some("weather"), Some(r#"{"city":"Bern"}"#))
    );
    assert!(!content.is_final());
    assert_eq!(content.state_delta(), Some(r#"{"k":1}"#));
    assert_eq!(content.usage().unwrap().prompt, 3);
    assert!(content.json().unwrap().starts_with(r#"{"#) && content.actions().unwrap().contains("other"));
    assert!(
        content.compaction().is_none() && content.error_code().is_none() && content.error_message().is_none()
    );

    let mut answer = Builder::new(&f.store, "agent", None).unwrap();
    answer.response_to(&call, r#"{"t":21}"#).unwrap().response(None, "x", "{}").unwrap();
    let answer = answer.json().unwrap().to_owned();
    let read = Content::read(&f.store, &answer).unwrap();
    assert_eq!(read.responses().map(|response| response.id()).collect::<Vec<_>>(), [Some("c1"), None]);
    assert!(Builder::new(&f.store, "u", None).unwrap().content(r#"{"parts":[]}"#).is_ok());
}

#[test]
fn a_view_tracks_its_writes() {
    let f = fixture();
    let mut session = f.store.create(KEY, Some(r#"{"user:n":1,"k":"v"}"#)).unwrap();
    let mut view = session.track().unwrap();
    assert_eq!(view.int("user:n").unwrap(), Some(1));
    view.set_int("user:n", 2).unwrap();
    view.set_string("s", "a\0\"").unwrap();
    view.set_float("f", 0.1).unwrap();
    view.set_bool("b", true).unwrap();
    view.set("j", "[1]").unwrap();
    view.remove("k").unwrap();
    refused(view.set_float("f", f64::NAN), Code::Invalid);
    assert!(view.changed() && !view.has("k").unwrap());
    assert_eq!((view.string("s").unwrap(), view.get("j").unwrap()), (Some("a\0\""), Some("[1]")));
    assert_eq!(
        (view.float("f").unwrap(), view.bool("b").unwrap(), view.int("none").unwrap()),
        (Some(0.1), Some(true), None)
    );
    assert!(
        view.json().unwrap().contains(r#""j":[1]"#)
            && view.delta().unwrap().contains("__ADK_SENTINEL_REMOVED__")
    );
    // Another session of the user wins the race: the counter loses no step.
    f.store.change_shared_state("app", Some("alice"), r#"{"n":10}"#, None).unwrap();
    refused(view.append(r#"{"author":"agent"}"#, &AppendOptions::new()), Code::Stale);
    view.refresh().unwrap();
    view.discard();
    let n = view.int("user:n").unwrap().unwrap();
    view.set_int("user:n", n + 1).unwrap();
    let event = r#"{"author":"agent","content":{"role":"model","parts":[{"text":"done"}]}}"#;
    view.append_output(event, "agent", Some("answer"), &AppendOptions::new()).unwrap();
    assert!(!view.changed());
    assert_eq!(view.session().state().string("answer").unwrap(), Some("done"));
    drop(view);
    assert_eq!(session.state().int("user:n").unwrap(), Some(11));
    let beside = r#"{"author":"agent","content":{"parts":[{"text":"a"},{"functionCall":{"name":"f"}}]}}"#;
    let mut turn = session.track_accumulating().unwrap();
    turn.append_output(beside, "agent", Some("answer"), &AppendOptions::new()).unwrap();
    turn.append_output(event, "agent", Some("answer"), &AppendOptions::new()).unwrap();
    drop(turn);
    assert_eq!(session.state().string("answer").unwrap(), Some("adone"));
    refused(session.track_read_only().unwrap().set("k", "1"), Code::ReadOnly);
    assert_eq!(f.store.output_delta(event, "agent", "o").unwrap().as_deref(), Some(r#"{"o":"done"}"#));
    assert!(f.store.output_delta(event, "other", "o").unwrap().is_none());
}

#[test]
fn templates_and_artifacts() {
    let f = fixture();
    let mut session = f.store.create(KEY, Some(r#"{"name":"Ann","n":1}"#)).unwrap();
    let render = |text: &str, options: &mut RenderOptions<'_>| session.render(text, options);
    assert_eq!(&*render("Hi {name} {n} {none?}", &mut RenderOptions::new()).unwrap(), "Hi Ann 1 ");
    refused(render("{none}", &mut RenderOptions::new()), Code::NotFound);
    assert_eq!(&*render("{{name}}", &mut RenderOptions::new().adk_braces()).unwrap(), "Ann");
    let wide = "{\u{3000}name\u{3000}}";
    assert_eq!(&*render(wide, &mut RenderOptions::new()).unwrap(), wide);
    assert_eq!(&*render(wide, &mut RenderOptions::new().adk_spaces()).unwrap(), "Ann");
    let mut options = RenderOptions::new().artifacts(&f.store, |name| match name {
        "a.txt" => Ok("text\0".to_owned()),
        "panic" => panic!("in an artifact"),
        _ => Err(Error::new(Code::NotFound, "no such artifact")),
    });
    assert_eq!(&*render("{artifact.a.txt}{artifact.b?}", &mut options).unwrap(), "text\0");
    assert!(refused(render("{artifact.b}", &mut options), Code::NotFound).message().contains('b'));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| render(
        "{artifact.panic}",
        &mut options
    )))
    .is_err());
    drop(options);
    let mut view = session.track().unwrap();
    view.set_string("name", "Bob").unwrap();
    assert_eq!(&*view.render("{name}", &mut RenderOptions::new()).unwrap(), "Bob");
}

#[test]
fn a_context_keeps_the_order_of_the_log() {
    let f = fixture();
    let events = [
        r#"{"id":"e1","timestamp":5,"author":"user","content":{"parts":[{"text":"x"}]}}"#,
        r#"{"id":"e2","timestamp":3,"author":"user","content":{"parts":[{"text":"x"}]}}"#,
        r#"{"id":"e3","timestamp":9,"author":"user","actions":{"compaction":{"startTimestamp":1,"endTimestamp":2,"compactedContent":{"parts":[{"text":"s"}]}}}}"#,
    ];
    f.store.create(KEY, None).unwrap().append_batch(&events, &AppendOptions::new()).unwrap();
    let ids = |options: ContextOptions| -> Vec<String> {
        let context = f.store.context_with(KEY, &options).unwrap();
        context.iter().map(|(event, _)| event.id().to_owned()).collect()
    };
    assert_eq!(ids(ContextOptions::new()), ["e3", "e2", "e1"]);
    assert_eq!(ids(ContextOptions::new().log_order()), ["e3", "e1", "e2"]);
}

#[test]
fn a_builder_appends_its_event_once() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    let mut builder = Builder::new(&f.store, "user", Some("i1")).unwrap();
    builder.text("hi").unwrap();
    let first = builder.append(&mut session, &AppendOptions::new().title("Greeting")).unwrap();
    let again = builder.append_by_key(&f.store, KEY, &AppendOptions::new()).unwrap();
    assert_eq!((again.status, again.seq, &again.made_id), (Status::Duplicate, 1, &first.made_id));
    assert_eq!(session.event(0).map(|event| event.id().to_owned()), first.made_id);
    assert_eq!(session.title(), Some("Greeting"));
    let mut other = Builder::new(&f.store, "agent", None).unwrap();
    let stale = AppendOptions::new().at_version(0);
    refused(other.append_by_key(&f.store, KEY, &stale), Code::Stale);
    let named = AppendOptions::new().at_version(1).delta(r#"{"k":1}"#);
    assert_eq!(other.append_by_key(&f.store, KEY, &named).unwrap().seq, 2);
    refused(
        Builder::new(&f.store, "agent", None).unwrap().append(&mut session, &AppendOptions::new()),
        Code::Stale,
    );
}

#[test]
fn pending_calls_are_answered() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    let call = |ids: &[&str]| {
        let mut builder = Builder::new(&f.store, "agent", Some("i1")).unwrap();
        for id in ids {
            builder.call(Some(id), "f", "{}").unwrap();
        }
        builder.append_by_key(&f.store, KEY, &AppendOptions::new()).unwrap();
    };
    call(&["c1", "c2", "c3"]);
    assert_eq!(f.store.answer_pending(KEY, &mut AnswerOptions::new()).unwrap(), 0);
    let mut asked = Vec::new();
    let mut options = AnswerOptions::new().response(Some("c2"), None, r#"{"approved":true}"#).answer(
        &f.store,
        |call, event, long_running| {
            asked.push((call.id().unwrap().to_owned(), event.author().to_owned(), long_running));
            Ok((call.id() == Some("c1")).then(|| r#"{"sum":3}"#.to_owned()))
        },
    );
    assert_eq!(session.answer_pending(&mut options).unwrap(), 2);
    drop(options);
    assert_eq!(
        asked,
        [("c1".to_owned(), "agent".to_owned(), false), ("c3".to_owned(), "agent".to_owned(), false)]
    );
    let answer = session.events().next_back().unwrap().json().unwrap().to_owned();
    let content = Content::read(&f.store, &answer).unwrap();
    assert_eq!(
        content.responses().map(|response| (response.id(), response.json())).collect::<Vec<_>>(),
        [(Some("c1"), Some(r#"{"sum":3}"#)), (Some("c2"), Some(r#"{"approved":true}"#))]
    );
    let mut fails =
        AnswerOptions::new().answer(&f.store, |_, _, _| Err(Error::new(Code::Io, "the tool failed")));
    assert_eq!(refused(f.store.answer_pending(KEY, &mut fails), Code::Io).message(), "the tool failed");
    let mut wrong = AnswerOptions::new().answer(&f.store, |_, _, _| Ok(Some("[]".to_owned())));
    refused(f.store.answer_pending(KEY, &mut wrong), Code::Invalid);
    let mut panics = AnswerOptions::new().answer(&f.store, |_, _, _| panic!("in a tool"));
    let panicked =
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| f.store.answer_pending(KEY, &mut panics)));
    assert!(panicked.is_err());
    refused(f.store.answer_pending(KEY, &mut AnswerOptions::interrupted().lease(77)), Code::Leased);
    assert_eq!(f.store.pending(KEY).unwrap().len(), 1);
    assert_eq!(session.answer_pending(&mut AnswerOptions::interrupted()).unwrap(), 1);
    assert!(session.pending().unwrap().is_empty());
    assert_eq!(session.answer_pending(&mut AnswerOptions::interrupted()).unwrap(), 0);
}

#[test]
fn a_context_fits_a_budget() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    for (id, author) in [("a", "user"), ("b", "agent"), ("c", "user"), ("d", "agent"), ("e", "user")] {
        let event =
            format!(r#"{{"id":"{id}","author":"{author}","content":{{"parts":[{{"text":"of {id}"}}]}}}}"#);
        session.append(&event).unwrap();
    }
    let shown = |context: Context| {
        let ids: String = context.iter().map(|(event, _)| event.id().to_owned()).collect();
        let left = context.left_out();
        (ids, left.events, left.turns, left.over_budget)
    };
    let read = |options: ContextOptions| shown(f.store.context_with(KEY, &options).unwrap());
    let size = r#"{"parts":[{"text":"of a"}]}"#.len() as i64;
    let new = ContextOptions::new;
    assert_eq!(read(new()), ("abcde".into(), 0, 0, false));
    assert_eq!(read(new().max_bytes(3 * size)), ("cde".into(), 2, 1, false));
    assert_eq!(read(new().max_bytes(1)), ("e".into(), 4, 2, true));
    assert_eq!(read(new().max_turns(1).first_turn()), ("abe".into(), 2, 1, false));
    assert_eq!(read(new().max_tokens(2 * size)), ("abcde".into(), 0, 0, false));
    let mut counted = Vec::new();
    let context = session.context_counted(&new().max_tokens(39), |event, content| {
        counted.push((event.id().to_owned(), content.to_owned()));
        Ok(10)
    });
    assert_eq!(shown(context.unwrap()), ("cde".into(), 2, 1, false));
    assert_eq!(counted[0], ("e".into(), r#"{"parts":[{"text":"of e"}]}"#.into()));
    refused(session.context_with(&new().max_turns(-1)), Code::Invalid);
    let options = new().max_tokens(1);
    refused(f.store.context_counted(KEY, &options, |_, _| Ok(-1)), Code::Misuse);
    let failed = f.store.context_counted(KEY, &options, |_, _| Err(std::io::Error::other("no model").into()));
    refused(failed, Code::Io);
    let panics = || f.store.context_counted(KEY, &options, |_, _| panic!("a tokenizer"));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(panics)).is_err());
}

#[test]
fn context_and_pending_calls() {
    let f = fixture();
    let mut session = f.store.create(KEY, None).unwrap();
    session
        .append(r#"{"author":"user","invocationId":"i","content":{"role":"user","parts":[{"text":"hi"}]}}"#)
        .unwrap();
    session
        .append(r#"{"author":"agent","invocationId":"i","content":{"role":"model","parts":[{"functionCall":{"id":"c","name":"f","args":{}}}]}}"#)
        .unwrap();
    session.append(r#"{"author":"agent","invocationId":"i"}"#).unwrap();
    assert_eq!(session.context(false).unwrap().len(), 3);
    let context = f.store.context(KEY, true).unwrap();
    assert_eq!(
        context.iter().map(|(event, content)| (event.seq(), content.is_some())).collect::<Vec<_>>(),
        [(1, true), (2, true)]
    );
    let pending = f.store.pending(KEY).unwrap();
    assert_eq!(session.pending().unwrap().len(), 1);
    let (call, event, long_running) = pending.iter().next().unwrap();
    assert_eq!((call.name(), event.seq(), long_running), (Some("f"), 2, false));
    let mut builder = Builder::new(&f.store, event.author(), Some(event.invocation_id())).unwrap();
    builder.interrupted(&call).unwrap();
    session.append(builder.json().unwrap()).unwrap();
    assert!(session.pending().unwrap().is_empty());
    let id = session.begin_invocation(None).unwrap().to_owned();
    assert!(id.starts_with("e-"));
    session
        .append(&format!(r#"{{"invocationId":"{id}","actions":{{"stateDelta":{{"temp:x":1}}}}}}"#))
        .unwrap();
    assert_eq!(session.state().int("temp:x").unwrap(), Some(1));
    session.end_invocation().unwrap();
    assert_eq!((session.state().int("temp:x").unwrap(), session.invocation_id()), (None, None));
}
