//! A stored event as adk-core has it, whichever program wrote it.

use std::collections::HashMap;

use adk_core::{Content, Event, EventActions, EventCompaction, LlmResponse, Result, UsageMetadata};
use chrono::{DateTime, Utc};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{json, Value};

use crate::encode::{FINISH_REASONS, OWN};
use crate::error::unreadable;
use crate::parts::decode_content;
use crate::time::{from_event, from_micros};

/// Reads one event. If another program wrote something that adk-core cannot hold, that is an error: nothing
/// is skipped.
pub(crate) fn event(stored: &seslite::Event<'_>) -> Result<Event> {
    let text = stored.json().map_err(crate::error::adk_error)?;
    read(stored, text).map_err(|what| {
        let (seq, id) = (stored.seq(), stored.id());
        unreadable(format!("event {seq} ('{id}') is beyond what adk-session can hold: {what}"))
    })
}

type Read<T> = std::result::Result<T, String>;

/// The members of an object whose values are read when they are asked for, in either of the ADK's spellings.
struct Members<'a>(HashMap<String, &'a RawValue>);

impl<'a> Members<'a> {
    fn of(json: &'a str) -> Read<Members<'a>> {
        serde_json::from_str(json).map(Members).map_err(|error| error.to_string())
    }

    fn raw(&self, name: &str) -> Option<&'a str> {
        let json = self.0.get(name).or_else(|| self.0.get(&snake(name)))?.get();
        (json != "null").then_some(json)
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> Read<Option<T>> {
        let Some(json) = self.raw(name) else {
            return Ok(None);
        };
        serde_json::from_str(json).map(Some).map_err(|error| format!("{name}: {error}"))
    }

    fn or_default<T: DeserializeOwned + Default>(&self, name: &str) -> Read<T> {
        Ok(self.get(name)?.unwrap_or_default())
    }

    fn members(&self, name: &str) -> Read<Members<'a>> {
        Members::of(self.raw(name).unwrap_or("{}")).map_err(|error| format!("{name}: {error}"))
    }
}

fn snake(name: &str) -> String {
    name.chars().fold(String::new(), |mut snake, c| {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
        snake
    })
}

fn read(stored: &seslite::Event<'_>, text: &str) -> Read<Event> {
    let members = Members::of(text)?;
    let own = own_members(&members);
    Ok(Event {
        id: stored.id().to_owned(),
        timestamp: from_event(members.raw("timestamp"), stored.time_us()),
        invocation_id: stored.invocation_id().to_owned(),
        branch: stored.branch().unwrap_or_default().to_owned(),
        author: stored.author().to_owned(),
        llm_response: response(&members, &own)?,
        actions: actions(&members.members("actions")?, &own)?,
        long_running_tool_ids: members.or_default("longRunningToolIds")?,
        llm_request: own.get("llmRequest")?,
        provider_metadata: own.or_default("eventMetadata")?,
    })
}

/// The content of a stored event, if it has one, and its time.
pub(crate) fn content_and_time(text: &str, time_us: i64) -> Read<Option<(Content, DateTime<Utc>)>> {
    let members = Members::of(text)?;
    let time = from_event(members.raw("timestamp"), time_us);
    Ok(content(&members, &own_members(&members))?.map(|content| (content, time)))
}

/// Another program's customMetadata may be anything.
fn own_members<'a>(members: &Members<'a>) -> Members<'a> {
    let own = members.members("customMetadata").and_then(|custom| custom.members(OWN));
    own.unwrap_or(Members(HashMap::new()))
}

fn content(members: &Members<'_>, own: &Members<'_>) -> Read<Option<Content>> {
    if let Some(content) = own.get("content")? {
        return Ok(Some(content));
    }
    let Some(json) = members.get::<Value>("content")? else {
        return Ok(None);
    };
    Ok(Some(decode_content(&json).ok_or("content: a part is no object, or its data is no base64")?))
}

fn response(members: &Members<'_>, own: &Members<'_>) -> Read<LlmResponse> {
    let text = |name: &str| -> Read<Option<String>> {
        match own.get(name)? {
            Some(text) => Ok(Some(text)),
            None => members.get(name),
        }
    };
    Ok(LlmResponse {
        content: content(members, own)?,
        usage_metadata: usage(members, own)?,
        finish_reason: finish_reason(members)?,
        citation_metadata: own.get("citationMetadata")?,
        partial: members.or_default("partial")?,
        turn_complete: members.or_default("turnComplete")?,
        interrupted: members.or_default("interrupted")?,
        error_code: text("errorCode")?,
        error_message: text("errorMessage")?,
        provider_metadata: own.0.get("providerMetadata").map(|json| parse(json.get())).transpose()?,
        interaction_id: text("interactionId")?,
    })
}

fn parse(json: &str) -> Read<Value> {
    serde_json::from_str(json).map_err(|error| error.to_string())
}

fn finish_reason(members: &Members<'_>) -> Read<Option<adk_core::FinishReason>> {
    let Some(name) = members.get::<String>("finishReason")? else {
        return Ok(None);
    };
    let known = FINISH_REASONS.iter().find(|(_, known)| *known == name);
    // The ADK has more of them than adk-core.
    Ok(Some(known.map_or(adk_core::FinishReason::Other, |(reason, _)| *reason)))
}

fn usage(members: &Members<'_>, own: &Members<'_>) -> Read<Option<UsageMetadata>> {
    if let Some(usage) = own.get("usageMetadata")? {
        return Ok(Some(usage));
    }
    if members.raw("usageMetadata").is_none() {
        return Ok(None);
    }
    let counts = members.members("usageMetadata")?;
    Ok(Some(UsageMetadata {
        prompt_token_count: counts.or_default("promptTokenCount")?,
        candidates_token_count: counts.or_default("candidatesTokenCount")?,
        total_token_count: counts.or_default("totalTokenCount")?,
        cache_read_input_token_count: counts.get("cachedContentTokenCount")?,
        thinking_token_count: counts.get("thoughtsTokenCount")?,
        ..Default::default()
    }))
}

fn actions(members: &Members<'_>, own: &Members<'_>) -> Read<EventActions> {
    let transfer: Option<String> = own.get("transferToAgent")?;
    Ok(EventActions {
        state_delta: members.or_default("stateDelta")?,
        artifact_delta: members.or_default("artifactDelta")?,
        skip_summarization: members.or_default("skipSummarization")?,
        transfer_to_agent: if transfer.is_some() { transfer } else { members.get("transferToAgent")? },
        escalate: members.or_default("escalate")?,
        tool_confirmation: own.get("toolConfirmation")?,
        tool_confirmation_decision: own.get("toolConfirmationDecision")?,
        compaction: compaction(members, own)?,
        route: own.get("route")?,
    })
}

fn compaction(members: &Members<'_>, own: &Members<'_>) -> Read<Option<EventCompaction>> {
    if let Some(compaction) = own.get("compaction")? {
        return Ok(Some(compaction));
    }
    let compaction = members.members("compaction")?;
    let time = |name: &str| -> Read<Option<_>> {
        let seconds: Option<f64> = compaction.get(name)?;
        // A cast of a double that is too large saturates.
        Ok(seconds.map(|seconds| from_micros((seconds * 1e6).round() as i64)))
    };
    let (start, end) = (time("startTimestamp")?, time("endTimestamp")?);
    // Without one of the three it counts as any other event (seslite_agent.h, Context).
    let (Some(start_timestamp), Some(end_timestamp), Some(content)) =
        (start, end, compaction.get("compactedContent")?)
    else {
        return Ok(None);
    };
    let content: Value = content;
    let compacted_content =
        decode_content(&content).unwrap_or(adk_core::Content { role: String::new(), parts: vec![] });
    Ok(Some(EventCompaction { start_timestamp, end_timestamp, compacted_content }))
}

/// The merged state of a handle.
pub(crate) fn state(view: &seslite::SessionView) -> Result<HashMap<String, Value>> {
    view.state()
        .iter()
        .map(|entry| {
            let (key, json) = entry.map_err(crate::error::adk_error)?;
            let value = serde_json::from_str(json).map_err(|error| {
                unreadable(format!("the state value of '{key}' is beyond serde_json: {error}"))
            })?;
            Ok((key.to_owned(), value))
        })
        .collect()
}

/// A state as the store takes it.
pub(crate) fn state_json(state: &HashMap<String, Value>) -> Result<String> {
    Ok(if state.is_empty() { json!({}) } else { crate::encode::sorted(state)? }.to_string())
}
