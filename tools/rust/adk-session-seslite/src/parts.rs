//! Parts of a content: as adk-core has them, and as the ADK writes them.

use adk_core::{Content, EmbeddedResource, FunctionResponseData, Part};
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use base64::engine::DecodePaddingMode;
use base64::{alphabet, Engine};
use serde_json::{json, Map, Value};

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const ANY_STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const ANY_URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// The ADK for Python writes base64 for URLs, others the plain one.
fn bytes_of(text: &str) -> Option<Vec<u8>> {
    ANY_STANDARD.decode(text).or_else(|_| ANY_URL_SAFE.decode(text)).ok()
}

/// The ADK's form, and whether it says everything.
pub(crate) fn encode_content(content: &Content) -> (Value, bool) {
    let parts: Vec<Value> = content.parts.iter().map(encode_part).collect();
    let exact = content.parts.iter().zip(&parts).all(|(part, json)| {
        // A text is what there is most of, and it is always exact.
        matches!(part, Part::Text { .. }) || decode_part(json).as_ref() == Some(part)
    });
    (json!({"role": content.role, "parts": parts}), exact)
}

pub(crate) fn decode_content(json: &Value) -> Option<Content> {
    let role = json.get("role").and_then(Value::as_str).unwrap_or_default();
    let parts = match json.get("parts") {
        None | Some(Value::Null) => Vec::new(),
        Some(parts) => parts.as_array()?.iter().map(decode_part).collect::<Option<_>>()?,
    };
    Some(Content { role: role.to_owned(), parts })
}

fn blob(mime_type: Option<&str>, data: &[u8]) -> Value {
    json!({"inlineData": {"mimeType": mime_type.unwrap_or("application/octet-stream"), "data": STANDARD.encode(data)}})
}

/// Members that are absent in the ADK when there is nothing to say.
fn with(mut object: Value, name: &str, value: Option<&String>) -> Value {
    if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
        object.insert(name.to_owned(), Value::String(value.clone()));
    }
    object
}

/// The ADK has signatures as base64; others are left to `adkRust`.
fn signature(signature: &Option<String>) -> Option<&String> {
    signature.as_ref().filter(|text| bytes_of(text).is_some())
}

/// The ADK has objects only.
fn object(value: &Value, wrap: bool) -> Value {
    match value {
        Value::Object(_) => value.clone(),
        other if wrap => json!({ "result": other }),
        _ => json!({}),
    }
}

fn encode_part(part: &Part) -> Value {
    match part {
        Part::Text { text } => json!({ "text": text }),
        Part::Thinking { thinking, signature: mark } => {
            with(json!({"text": thinking, "thought": true}), "thoughtSignature", signature(mark))
        }
        Part::InlineData { mime_type, data, .. } => blob(Some(mime_type), data),
        Part::FileData { mime_type, file_uri, .. } => {
            json!({"fileData": {"fileUri": file_uri, "mimeType": mime_type}})
        }
        Part::FunctionCall { name, args, id, thought_signature } => {
            let call = with(json!({"name": name, "args": object(args, false)}), "id", id.as_ref());
            with(json!({ "functionCall": call }), "thoughtSignature", signature(thought_signature))
        }
        Part::FunctionResponse { function_response: response, id, .. } => {
            let response = json!({"name": response.name, "response": object(&response.response, true)});
            json!({"functionResponse": with(response, "id", id.as_ref())})
        }
        Part::ServerToolCall { server_tool_call: json }
        | Part::ServerToolResponse { server_tool_response: json }
            if server_tool(json).is_some() =>
        {
            json.clone()
        }
        Part::ServerToolCall { server_tool_call: json }
        | Part::ServerToolResponse { server_tool_response: json } => {
            json!({ "text": json.to_string() })
        }
        Part::EmbeddedResource { resource: EmbeddedResource::Text(resource) } => {
            json!({ "text": resource.text })
        }
        Part::EmbeddedResource { resource: EmbeddedResource::Blob(resource) } => {
            blob(resource.mime_type.as_deref(), &resource.data)
        }
    }
}

/// Whether a part is what a server's own tool was asked, or answered.
fn server_tool(json: &Value) -> Option<bool> {
    let has = |names: &[&str]| names.iter().any(|name| json.get(name).is_some_and(Value::is_object));
    if has(&["executableCode", "executable_code", "toolCall", "tool_call"]) {
        return Some(true);
    }
    has(&["codeExecutionResult", "code_execution_result", "toolResponse", "tool_response"]).then_some(false)
}

struct Members<'a>(&'a Map<String, Value>);

impl<'a> Members<'a> {
    fn of(json: &'a Value) -> Option<Members<'a>> {
        json.as_object().map(Members)
    }
    fn get(&self, camel: &str, snake: &str) -> Option<&'a Value> {
        self.0.get(camel).or_else(|| self.0.get(snake)).filter(|value| !value.is_null())
    }
    fn text(&self, camel: &str, snake: &str) -> Option<String> {
        self.get(camel, snake)?.as_str().map(str::to_owned)
    }
    fn members(&self, camel: &str, snake: &str) -> Option<Members<'a>> {
        self.get(camel, snake).and_then(Members::of)
    }
}

/// A part in either of the ADK's spellings, or in adk-core's own form. A part of a kind that adk-core does
/// not know is the JSON of a server's tool, so that nothing is lost.
fn decode_part(json: &Value) -> Option<Part> {
    let part = Members::of(json)?;
    let thought_signature = part.text("thoughtSignature", "thought_signature");
    if let Some(call) = part.members("functionCall", "function_call") {
        return Some(Part::FunctionCall {
            name: call.text("name", "name").unwrap_or_default(),
            args: call.get("args", "args").cloned().unwrap_or_else(|| json!({})),
            id: call.text("id", "id"),
            thought_signature,
        });
    }
    if let Some(response) = part.members("functionResponse", "function_response") {
        // The id and the data next to the response are in adk-core's own form.
        let data = |name| response.0.get(name).cloned().unwrap_or_else(|| json!([]));
        return Some(Part::FunctionResponse {
            function_response: FunctionResponseData {
                name: response.text("name", "name").unwrap_or_default(),
                response: response.get("response", "response").cloned().unwrap_or_else(|| json!({})),
                inline_data: serde_json::from_value(data("inline_data")).unwrap_or_default(),
                file_data: serde_json::from_value(data("file_data")).unwrap_or_default(),
            },
            id: response.text("id", "id").or_else(|| part.text("id", "id")),
            annotations: part.get("annotations", "annotations").cloned(),
        });
    }
    if let Some(data) = part.members("inlineData", "inline_data") {
        return Some(Part::InlineData {
            mime_type: data.text("mimeType", "mime_type").unwrap_or_default(),
            data: bytes_of(data.get("data", "data").and_then(Value::as_str).unwrap_or_default())?,
            uri: None,
            annotations: None,
        });
    }
    if let Some(file) = part.members("fileData", "file_data") {
        return Some(Part::FileData {
            mime_type: file.text("mimeType", "mime_type").unwrap_or_default(),
            file_uri: file.text("fileUri", "file_uri").unwrap_or_default(),
            annotations: None,
        });
    }
    match server_tool(json) {
        Some(true) => return Some(Part::ServerToolCall { server_tool_call: json.clone() }),
        Some(false) => return Some(Part::ServerToolResponse { server_tool_response: json.clone() }),
        None => {}
    }
    if let Some(text) = part.text("text", "text") {
        if part.get("thought", "thought").and_then(Value::as_bool) == Some(true) {
            return Some(Part::Thinking { thinking: text, signature: thought_signature });
        }
        return Some(Part::Text { text });
    }
    let own = serde_json::from_value(json.clone());
    Some(own.unwrap_or_else(|_| Part::ServerToolCall { server_tool_call: json.clone() }))
}
