use std::collections::HashMap;

use adk_core::{Content, EventCompaction, FinishReason, FunctionResponseData, Part, UsageMetadata};
use adk_session::Event;
use serde_json::json;

use super::{event, time};

/// An event in which every field says something.
pub fn whole_event() -> Event {
    let mut event = event("e", 1, json!({"k":{"b":1,"a":2}}));
    event.branch = "root.child".into();
    event.long_running_tool_ids = vec!["c1".into()];
    event.llm_request = Some("{}".into());
    event.provider_metadata = HashMap::from([("a".into(), "1".into()), ("b".into(), "2".into())]);
    event.actions.artifact_delta = HashMap::from([("f.txt".into(), 3)]);
    event.actions.skip_summarization = true;
    event.actions.transfer_to_agent = Some("other".into());
    event.actions.escalate = true;
    event.actions.route = Some(vec!["x".into()]);
    event.actions.compaction = Some(EventCompaction {
        start_timestamp: time(0),
        end_timestamp: time(1),
        compacted_content: Content::new("model").with_text("summary"),
    });
    let response = &mut event.llm_response;
    response.turn_complete = true;
    response.interrupted = true;
    response.finish_reason = Some(FinishReason::MaxTokens);
    response.error_code = Some("E".into());
    response.error_message = Some(String::new());
    response.provider_metadata = Some(json!({"x":null}));
    response.interaction_id = Some("i".into());
    response.usage_metadata = Some(UsageMetadata {
        prompt_token_count: 1,
        total_token_count: 3,
        thinking_token_count: Some(2),
        cost: Some(0.25),
        ..Default::default()
    });
    let blob = |uri: Option<&str>| Part::InlineData {
        mime_type: "image/png".into(),
        data: (0..=255).collect(),
        uri: uri.map(str::to_owned),
        annotations: None,
    };
    response.content = Some(Content {
        role: "model".into(),
        parts: vec![
            Part::Text { text: "a\0\u{1f600}".into() },
            Part::Thinking { thinking: "hm".into(), signature: Some("not base64!".into()) },
            blob(None),
            blob(Some("file:///x")),
            Part::FileData { mime_type: "text/plain".into(), file_uri: "gs://x".into(), annotations: None },
            Part::FunctionCall {
                name: "f".into(),
                args: json!({"big":18446744073709551615u64}),
                id: Some("c1".into()),
                thought_signature: Some("AAEC".into()),
            },
            Part::FunctionCall { name: "g".into(), args: json!([1]), id: None, thought_signature: None },
            Part::FunctionResponse {
                function_response: FunctionResponseData::new("f", json!("a text")),
                id: Some("c1".into()),
                annotations: Some(json!({"a":1})),
            },
            Part::ServerToolCall { server_tool_call: json!({"executableCode":{"code":"1"}}) },
            Part::ServerToolResponse { server_tool_response: json!({"other":1}) },
        ],
    });
    event
}
