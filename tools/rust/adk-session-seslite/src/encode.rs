//! An event as the ADK writes it, so that every other program reads it: camelCase, parts as in the Gemini
//! API, seconds. What the ADK has no place for stands in `customMetadata.adkRust`.

use std::collections::{BTreeMap, HashMap};

use adk_core::{Event, EventActions, EventCompaction, FinishReason, Result, UsageMetadata};
use serde::Serialize;
use serde_json::{json, Map, Value};

use crate::error::invalid;
use crate::parts::encode_content;
use crate::time::to_seconds;

/// The member of `customMetadata` that only this crate reads.
pub(crate) const OWN: &str = "adkRust";

fn failed(error: &serde_json::Error) -> adk_core::AdkError {
    invalid("session.invalid_input", format!("the event cannot be written as JSON: {error}"))
}

fn value(of: &impl Serialize) -> Result<Value> {
    serde_json::to_value(of).map_err(|error| failed(&error))
}

/// The same map gives the same bytes, so that an append that is repeated is one and the same event.
pub(crate) fn sorted<T: Serialize>(map: &HashMap<String, T>) -> Result<Value> {
    value(&map.iter().collect::<BTreeMap<_, _>>())
}

/// Members that are left out when they say nothing.
#[derive(Default)]
struct Members(Map<String, Value>);

impl Members {
    fn put(&mut self, name: &str, value: Value) {
        let nothing = match &value {
            Value::Null | Value::Bool(false) => true,
            Value::String(text) => text.is_empty(),
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            _ => false,
        };
        if !nothing {
            self.0.insert(name.to_owned(), value);
        }
    }
}

/// The event's JSON.
pub(crate) fn event_json(event: &Event) -> Result<String> {
    let response = &event.llm_response;
    let mut members = Members::default();
    let mut own = Members::default();

    members.put("invocationId", json!(event.invocation_id));
    members.put("author", json!(event.author));
    members.put("branch", json!(event.branch));
    if let Some(content) = &response.content {
        let (json, exact) = encode_content(content);
        members.put("content", json);
        if !exact {
            own.put("content", value(content)?);
        }
    }
    members.put("partial", json!(response.partial));
    members.put("turnComplete", json!(response.turn_complete));
    members.put("interrupted", json!(response.interrupted));
    members.put("errorCode", json!(response.error_code));
    members.put("errorMessage", json!(response.error_message));
    members.put("finishReason", json!(response.finish_reason.map(finish_reason)));
    if let Some(usage) = &response.usage_metadata {
        let (json, exact) = usage_json(usage);
        members.put("usageMetadata", json);
        if !exact {
            own.put("usageMetadata", value(usage)?);
        }
    }
    members.put("longRunningToolIds", json!(event.long_running_tool_ids));
    // `actions` is never left out: an event of the ADK always has them.
    members.0.insert("actions".into(), actions_json(&event.actions, &mut own)?);

    // An empty text differs from an absent one.
    for (name, text) in [("errorCode", &response.error_code), ("errorMessage", &response.error_message)] {
        if text.as_deref() == Some("") {
            own.0.insert(name.into(), json!(""));
        }
    }
    own.put("citationMetadata", value(&response.citation_metadata)?);
    if let Some(metadata) = &response.provider_metadata {
        own.0.insert("providerMetadata".into(), metadata.clone());
    }
    own.put("eventMetadata", sorted(&event.provider_metadata)?);
    for (name, text) in [("interactionId", &response.interaction_id), ("llmRequest", &event.llm_request)] {
        if let Some(text) = text {
            own.0.insert(name.into(), json!(text));
        }
    }
    if !own.0.is_empty() {
        members.put("customMetadata", json!({ OWN: own.0 }));
    }

    // No double represents the time exactly, so it is written as a text.
    let rest = serde_json::to_string(&members.0).map_err(|error| failed(&error))?;
    let id = serde_json::to_string(&event.id).map_err(|error| failed(&error))?;
    Ok(format!("{{\"id\":{id},\"timestamp\":{},{}", to_seconds(event.timestamp), &rest[1..]))
}

fn actions_json(actions: &EventActions, own: &mut Members) -> Result<Value> {
    let mut members = Members::default();
    members.put("skipSummarization", json!(actions.skip_summarization));
    members.put("stateDelta", sorted(&actions.state_delta)?);
    members.put("artifactDelta", sorted(&actions.artifact_delta)?);
    members.put("transferToAgent", json!(actions.transfer_to_agent));
    members.put("escalate", json!(actions.escalate));
    if let Some(compaction) = &actions.compaction {
        let (json, exact) = compaction_json(compaction);
        members.put("compaction", json);
        if !exact {
            own.put("compaction", value(compaction)?);
        }
    }
    own.put("toolConfirmation", value(&actions.tool_confirmation)?);
    own.put("toolConfirmationDecision", value(&actions.tool_confirmation_decision)?);
    for (name, told) in
        [("transferToAgent", json!(actions.transfer_to_agent)), ("route", json!(actions.route))]
    {
        if name == "route" && !told.is_null() || told == json!("") {
            own.0.insert(name.into(), told);
        }
    }
    Ok(Value::Object(members.0))
}

/// Seconds as a double have microseconds.
fn compaction_json(compaction: &EventCompaction) -> (Value, bool) {
    let times = [compaction.start_timestamp, compaction.end_timestamp];
    let seconds = times.map(|time| time.timestamp_micros() as f64 / 1e6);
    let (content, exact) = encode_content(&compaction.compacted_content);
    let whole = times.iter().all(|time| time.timestamp_subsec_nanos() % 1000 == 0);
    let json = json!({"startTimestamp": seconds[0], "endTimestamp": seconds[1], "compactedContent": content});
    (json, exact && whole)
}

pub(crate) const FINISH_REASONS: &[(FinishReason, &str)] = &[
    (FinishReason::Stop, "STOP"),
    (FinishReason::MaxTokens, "MAX_TOKENS"),
    (FinishReason::Safety, "SAFETY"),
    (FinishReason::Recitation, "RECITATION"),
    (FinishReason::Other, "OTHER"),
];

fn finish_reason(reason: FinishReason) -> &'static str {
    FINISH_REASONS.iter().find(|(known, _)| *known == reason).map_or("OTHER", |(_, name)| name)
}

fn usage_json(usage: &UsageMetadata) -> (Value, bool) {
    let mut members = Members::default();
    members.put("promptTokenCount", json!(usage.prompt_token_count));
    members.put("candidatesTokenCount", json!(usage.candidates_token_count));
    members.put("totalTokenCount", json!(usage.total_token_count));
    members.put("cachedContentTokenCount", json!(usage.cache_read_input_token_count));
    members.put("thoughtsTokenCount", json!(usage.thinking_token_count));
    let exact = usage.cache_creation_input_token_count.is_none()
        && usage.audio_input_token_count.is_none()
        && usage.audio_output_token_count.is_none()
        && usage.cost.is_none()
        && usage.is_byok.is_none()
        && usage.provider_usage.is_none();
    (Value::Object(members.0), exact)
}
