use adk_artifact::{
    ArtifactService, DeleteRequest, ListRequest, ListResponse, LoadRequest, LoadResponse, SaveRequest,
    SaveResponse, VersionsRequest, VersionsResponse,
};
use adk_core::{AdkError, ErrorCategory, ErrorComponent, Part, Result};
use async_trait::async_trait;
use serde_json::{json, Map, Value};
use seslite::{
    Artifact, ArtifactInfo, ArtifactKind, ArtifactOpenOptions, ArtifactSaveOptions, Code, DeleteOptions, Key,
    Store,
};

use crate::error::artifact_error;
use crate::work::{blocking, write};

/// Names and versions that are read at a time.
const PAGE: usize = 1000;

/// An [`ArtifactService`] on a seslite store. Clones share the store, and
/// [`SesliteSessionService::artifacts`](crate::SesliteSessionService::artifacts) makes one on the store of
/// the sessions.
///
/// Versions are numbered from 0 on and listed in ascending order, as in `GcsArtifactService` and the ADK for
/// Python. So the versions in an event's `artifact_delta` mean the same to every program that uses the store.
#[derive(Clone)]
pub struct SesliteArtifactService {
    store: Store,
}

impl SesliteArtifactService {
    /// A service on a store that is open. Its calls have the limits of that handle ([`Store::with_limits`]).
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    /// The store, for what the trait does not have: artifacts in an event's transaction, and readers.
    pub fn store(&self) -> &Store {
        &self.store
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Store) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.store.clone();
        blocking(ErrorComponent::Artifact, move || work(&store)).await
    }

    async fn write<T: Send + 'static>(
        &self,
        call: &'static str,
        session: &str,
        work: impl FnOnce(&Store) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.store.clone();
        write(ErrorComponent::Artifact, call, session, move || work(&store)).await
    }
}

fn invalid(message: impl Into<String>) -> AdkError {
    AdkError::new(ErrorComponent::Artifact, ErrorCategory::InvalidInput, "artifact.invalid_input", message)
}

/// A tool may write an artifact to a file of its name, so a name that leads out of a folder is not saved. The
/// rule is that of `GcsArtifactService`. To the store itself a name is never a path.
fn check_file_name(name: &str) -> Result<()> {
    if !name.contains('\\') && name.split('/').all(|part| !matches!(part, "" | "." | "..")) {
        return Ok(());
    }
    let rule = "no backslash, and no empty, '.' or '..' between slashes";
    Err(invalid(format!("invalid artifact file name '{name}': {rule}")))
}

/// An artifact as the store keeps it.
struct Stored<'a> {
    options: ArtifactSaveOptions<'a>,
    bytes: &'a [u8],
}

/// What the store has no place for, or `None`.
fn metadata_of(part: &Part) -> Option<String> {
    let (uri, annotations) = match part {
        Part::InlineData { uri, annotations, .. } => (uri.as_ref(), annotations.as_ref()),
        Part::FileData { annotations, .. } => (None, annotations.as_ref()),
        _ => (None, None),
    };
    if uri.is_none() && annotations == display_annotations(display_name(part)).as_ref() {
        return None;
    }
    let mut own = Map::new();
    own.extend(uri.map(|uri| ("uri".to_owned(), json!(uri))));
    own.extend(annotations.map(|annotations| ("annotations".to_owned(), annotations.clone())));
    Some(json!({ "adkRust": own }).to_string())
}

/// adk-core has no place for a name to display but in the annotations.
fn display_name(part: &Part) -> Option<&str> {
    let (Part::InlineData { annotations, .. } | Part::FileData { annotations, .. }) = part else {
        return None;
    };
    let name = annotations.as_ref()?.get("displayName")?.as_str()?;
    (name.len() <= 512 && !name.contains('\0')).then_some(name)
}

fn display_annotations(name: Option<&str>) -> Option<Value> {
    name.map(|name| json!({ "displayName": name }))
}

fn encode<'a>(part: &'a Part, metadata: Option<&'a str>) -> Result<Stored<'a>> {
    let (kind, mime_type, bytes) = match part {
        Part::Text { text } => (ArtifactKind::Text, "text/plain", text.as_bytes()),
        Part::InlineData { mime_type, data, .. } => {
            (ArtifactKind::Bytes, mime_type.as_str(), data.as_slice())
        }
        Part::FileData { mime_type, file_uri, .. } => {
            (ArtifactKind::Uri, mime_type.as_str(), file_uri.as_bytes())
        }
        _ => return Err(invalid("an artifact must be a text, inline data, or file data")),
    };
    // In the ADK for Python an artifact may be saved before its session is.
    let mut options = ArtifactSaveOptions::new().kind(kind).anyway();
    if !mime_type.is_empty() {
        options = options.mime_type(mime_type);
    }
    if let Some(name) = display_name(part) {
        options = options.display_name(name);
    }
    if let Some(metadata) = metadata {
        options = options.metadata(metadata);
    }
    Ok(Stored { options, bytes })
}

fn text_of(info: ArtifactInfo<'_>, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let message =
            format!("the artifact '{}' (version {}) is not UTF-8: {error}", info.name(), info.version());
        AdkError::new(ErrorComponent::Artifact, ErrorCategory::Internal, "artifact.unreadable", message)
    })
}

fn decode(mut artifact: Artifact) -> Result<Part> {
    let bytes = artifact.read_all().map_err(artifact_error)?;
    let info = artifact.info();
    let metadata: Value =
        info.metadata().ok().flatten().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let own = metadata.get("adkRust").and_then(Value::as_object);
    let annotations = match own {
        Some(own) => own.get("annotations").cloned(),
        None => display_annotations(info.display_name()),
    };
    let mime_type = info.mime_type().unwrap_or_default().to_owned();
    Ok(match info.kind() {
        ArtifactKind::Text => Part::Text { text: text_of(info, bytes)? },
        ArtifactKind::Uri => Part::FileData { mime_type, file_uri: text_of(info, bytes)?, annotations },
        _ => {
            let uri = own.and_then(|own| own.get("uri")?.as_str()).map(str::to_owned);
            Part::InlineData { mime_type, data: bytes, uri, annotations }
        }
    })
}

/// The version that the next save gets.
fn next_version(store: &Store, key: Key<'_>, name: &str) -> Result<i64> {
    match store.artifact(key, name, &ArtifactOpenOptions::new().stored()) {
        Ok(newest) => Ok(newest.info().version() + 1),
        Err(error) if error.code() == Code::NotFound => Ok(0),
        Err(error) => Err(artifact_error(error)),
    }
}

fn save(store: &Store, request: &SaveRequest) -> Result<SaveResponse> {
    let key = Key::new(&request.app_name, &request.user_id, &request.session_id);
    check_file_name(&request.file_name)?;
    // If another program saves in the meantime, the response has the number that was written.
    if let Some(version) = request.version {
        let next = next_version(store, key, &request.file_name)?;
        if version != next {
            let message = format!(
                "version {version} cannot be written: versions stay as they are, and the next is {next}"
            );
            return Err(invalid(message));
        }
    }
    let metadata = metadata_of(&request.part);
    let stored = encode(&request.part, metadata.as_deref())?;
    let saved = store.save_artifact(key, &request.file_name, stored.bytes, &stored.options);
    Ok(SaveResponse { version: saved.map_err(artifact_error)? })
}

fn list(store: &Store, key: Key<'_>) -> seslite::Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    loop {
        let page = store.artifact_names(key, names.last().map(String::as_str), PAGE)?;
        names.extend(page.iter().map(|info| info.name().to_owned()));
        if !page.more() {
            return Ok(names);
        }
    }
}

fn versions(store: &Store, key: Key<'_>, name: &str) -> seslite::Result<Vec<i64>> {
    let mut versions: Vec<i64> = Vec::new();
    loop {
        let page = store.artifact_versions(key, name, versions.last().map_or(0, |last| last + 1), PAGE)?;
        versions.extend(page.iter().map(|info| info.version()));
        if !page.more() {
            return Ok(versions);
        }
    }
}

#[async_trait]
impl ArtifactService for SesliteArtifactService {
    async fn save(&self, request: SaveRequest) -> Result<SaveResponse> {
        let session = request.session_id.clone();
        self.write("save", &session, move |store| save(store, &request)).await
    }

    async fn load(&self, request: LoadRequest) -> Result<LoadResponse> {
        self.run(move |store| {
            let key = Key::new(&request.app_name, &request.user_id, &request.session_id);
            let mut options = ArtifactOpenOptions::new();
            if let Some(version) = request.version {
                options = options.version(version);
            }
            let artifact = store.artifact(key, &request.file_name, &options).map_err(artifact_error)?;
            Ok(LoadResponse { part: decode(artifact)? })
        })
        .await
    }

    async fn delete(&self, request: DeleteRequest) -> Result<()> {
        if request.version.is_some() {
            return Err(AdkError::new(
                ErrorComponent::Artifact,
                ErrorCategory::Unsupported,
                "artifact.unsupported",
                "the versions of an artifact are deleted together: delete without a version",
            ));
        }
        let session = request.session_id.clone();
        self.write("delete", &session, move |store| {
            let key = Key::new(&request.app_name, &request.user_id, &request.session_id);
            store
                .delete_artifact(key, &request.file_name, &DeleteOptions::new())
                .map(drop)
                .map_err(artifact_error)
        })
        .await
    }

    async fn list(&self, request: ListRequest) -> Result<ListResponse> {
        self.run(move |store| {
            let key = Key::new(&request.app_name, &request.user_id, &request.session_id);
            Ok(ListResponse { file_names: list(store, key).map_err(artifact_error)? })
        })
        .await
    }

    async fn versions(&self, request: VersionsRequest) -> Result<VersionsResponse> {
        self.run(move |store| {
            let key = Key::new(&request.app_name, &request.user_id, &request.session_id);
            let versions = versions(store, key, &request.file_name).map_err(artifact_error)?;
            if versions.is_empty() {
                let message = format!("artifact '{}' not found", request.file_name);
                return Err(AdkError::not_found(ErrorComponent::Artifact, "artifact.not_found", message));
            }
            Ok(VersionsResponse { versions })
        })
        .await
    }

    async fn health_check(&self) -> Result<()> {
        self.run(|store| store.apps(None, None, 1).map(drop).map_err(artifact_error)).await
    }
}
