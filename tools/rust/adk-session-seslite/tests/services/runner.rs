//! A runner of adk-rust, with a scripted model, a tool that writes state, a streamed answer, an output key,
//! state in the instruction, a sub-agent, rewinds and compaction, over 50 turns: what is stored is what
//! adk-session's in-memory service holds.

use std::sync::Arc;

use adk_agent::LlmAgentBuilder;
use adk_core::{
    Agent, BaseEventsSummarizer, Content, EventCompaction, EventsCompactionConfig, Llm, LlmRequest,
    LlmResponse, LlmResponseStream, Part, Result, SessionId, Tool, ToolContext, UserId,
};
use adk_runner::Runner;
use adk_session::*;
use adk_session_seslite::SesliteSessionService;
use async_trait::async_trait;
use futures::StreamExt;
use serde_json::{json, Value};

/// It hands over to the sub-agent, if it has one, when it is asked for the expert.
struct Model {
    sub_agent: Option<&'static str>,
}

fn said(content: Content, partial: bool) -> LlmResponse {
    LlmResponse { content: Some(content), partial, turn_complete: !partial, ..Default::default() }
}

#[async_trait]
impl Llm for Model {
    fn name(&self) -> &str {
        "scripted"
    }
    async fn generate_content(&self, request: LlmRequest, _: bool) -> Result<LlmResponseStream> {
        let turns = request.contents.len();
        let part = request.contents.last().and_then(|content| content.parts.last()).cloned();
        let call = |name: &str, args| {
            let (name, id) = (name.into(), Some(format!("call-{turns}")));
            let call = Part::FunctionCall { name, args, id, thought_signature: None };
            vec![said(Content { role: "model".into(), parts: vec![call] }, false)]
        };
        let responses = match (part, self.sub_agent) {
            (Some(Part::Text { text }), Some(agent)) if text.contains("expert") => {
                call("transfer_to_agent", json!({"agent_name": agent}))
            }
            (Some(Part::Text { text }), _) if text.contains("tool") => {
                call("look", json!({"what": text, "big": 9007199254740993_i64}))
            }
            _ => {
                let whole = format!("It is {turns}. \u{1f600}");
                vec![
                    said(Content::new("model").with_text("It is "), true),
                    said(Content::new("model").with_text(&whole[6..]), true),
                    LlmResponse { turn_complete: true, ..Default::default() },
                ]
            }
        };
        Ok(Box::pin(futures::stream::iter(responses.into_iter().map(Ok))))
    }
}

struct Look;

#[async_trait]
impl Tool for Look {
    fn name(&self) -> &str {
        "look"
    }
    fn description(&self) -> &str {
        "looks something up"
    }
    async fn execute(&self, context: Arc<dyn ToolContext>, args: Value) -> Result<Value> {
        let mut actions = context.actions();
        actions.state_delta.insert("user:looked".into(), args["what"].clone());
        actions.state_delta.insert("temp:draft".into(), args["what"].clone());
        context.set_actions(actions);
        Ok(json!({"found": args, "n": null}))
    }
}

struct Summarizer;

#[async_trait]
impl BaseEventsSummarizer for Summarizer {
    async fn summarize_events(&self, events: &[Event]) -> Result<Option<Event>> {
        let (Some(first), Some(last)) = (events.first(), events.last()) else {
            return Ok(None);
        };
        let mut event = Event::new("compaction");
        event.author = "system".into();
        event.actions.compaction = Some(EventCompaction {
            start_timestamp: first.timestamp,
            end_timestamp: last.timestamp,
            compacted_content: Content::new("model").with_text(format!("{} events", events.len())),
        });
        Ok(Some(event))
    }
}

fn agent() -> Arc<dyn Agent> {
    let expert = LlmAgentBuilder::new("expert")
        .model(Arc::new(Model { sub_agent: None }))
        .tool(Arc::new(Look))
        .output_key("expertise")
        .build()
        .unwrap();
    let helper = LlmAgentBuilder::new("helper")
        .model(Arc::new(Model { sub_agent: Some("expert") }))
        .instruction("The last answer was {answer?}, the user speaks {user:language}.")
        .tool(Arc::new(Look))
        .sub_agent(Arc::new(expert))
        .output_key("answer")
        .build()
        .unwrap();
    Arc::new(helper)
}

fn runner(service: &Arc<dyn SessionService>) -> Runner {
    let summarizer = Arc::new(Summarizer);
    Runner::builder()
        .app_name("app")
        .agent(agent())
        .session_service(Arc::clone(service))
        .compaction_config(EventsCompactionConfig { compaction_interval: 20, overlap_size: 1, summarizer })
        .build()
        .unwrap()
}

/// The result of the turns, without values that differ in each run.
async fn run(service: Arc<dyn SessionService>) -> (Vec<Value>, Value) {
    let state = [("user:language".to_owned(), json!("en"))].into();
    let session_id = Some("s".to_owned());
    service
        .create(CreateRequest { app_name: "app".into(), user_id: "u".into(), session_id, state })
        .await
        .unwrap();
    let runner = runner(&service);
    for turn in 0..50 {
        let text = match turn % 5 {
            0 | 3 => format!("use the tool {turn}"),
            1 => format!("ask the expert {turn}, with the tool"),
            _ => format!("turn {turn}"),
        };
        let (user, session) = (UserId::new("u").unwrap(), SessionId::new("s").unwrap());
        let mut events = runner.run(user, session, Content::new("user").with_text(text)).await.unwrap();
        while let Some(event) = events.next().await {
            event.unwrap();
        }
        if turn % 10 == 9 {
            service.rewind_steps("s", 1 + turn / 10).await.unwrap();
        }
    }
    let request = GetRequest {
        app_name: "app".into(),
        user_id: "u".into(),
        session_id: "s".into(),
        num_recent_events: None,
        after: None,
    };
    let session = service.get(request).await.unwrap();
    let events = session.events().all().into_iter().map(|event| {
        let mut json = serde_json::to_value(&event).unwrap();
        for name in ["id", "timestamp", "invocation_id", "llm_request"] {
            json.as_object_mut().unwrap().remove(name);
        }
        if let Some(compaction) = json["actions"].get_mut("compaction") {
            compaction["start_timestamp"] = Value::Null;
            compaction["end_timestamp"] = Value::Null;
        }
        json
    });
    (events.collect(), serde_json::to_value(session.state().all()).unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_turns_leave_what_the_in_memory_service_holds() {
    let (theirs, their_state) = run(Arc::new(InMemorySessionService::new())).await;
    let folder = tempfile::tempdir().unwrap();
    let service = SesliteSessionService::open(folder.path().join("agents.db")).await.unwrap();
    let (ours, our_state) = run(Arc::new(service.clone())).await;
    assert!(theirs.len() > 130, "{} events", theirs.len());
    assert!(theirs
        .iter()
        .any(|event| event["actions"].get("compaction").is_some_and(|value| !value.is_null())));
    for (index, (our, their)) in ours.iter().zip(&theirs).enumerate() {
        assert_eq!(our, their, "event {index}");
    }
    assert_eq!((ours.len(), our_state), (theirs.len(), their_state.clone()));
    assert!(
        their_state["answer"].as_str().is_some_and(|answer| answer.starts_with("It is ")),
        "{their_state}"
    );
    assert!(theirs.iter().any(|event| event["author"] == "expert"));
    assert!(their_state["expertise"].is_string() && their_state["user:looked"].is_string(), "{their_state}");
    assert!(their_state.get("temp:draft").is_none(), "{their_state}");
    // The command and C read the same calls. adk-rust stores no response to a hand-over.
    let store = service.store();
    let key = adk_session_seslite::seslite::Key::new("app", "u", "s");
    let pending = store.pending(key).unwrap();
    assert!(pending.iter().all(|(call, _, _)| call.name() == Some("transfer_to_agent")));
    assert_eq!(store.check(adk_session_seslite::seslite::CheckLevel::Log, 0, |_| true).unwrap(), 0);
}
