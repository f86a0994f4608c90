use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::ptr;

use seslite_sys as sys;

use super::nothing;
use crate::callback::{panicked, Callback};
use crate::error::Result;
use crate::raw::sized;
use crate::session::SessionView;
use crate::store::Store;
use crate::text::{take_required, Json};

type ReadArtifact<'a> = dyn FnMut(&str) -> Result<String> + 'a;

/// Reads artifacts; the library takes their texts in memory of the store.
struct Artifacts<'a> {
    store: *mut sys::ses_store,
    read: Box<ReadArtifact<'a>>,
}

/// How to render a template.
#[derive(Default)]
pub struct RenderOptions<'a> {
    flags: u32,
    artifacts: Option<Artifacts<'a>>,
    store: PhantomData<&'a Store>,
}

impl<'a> RenderOptions<'a> {
    pub fn new() -> Self {
        Self::default()
    }
    /// A run of braces on either side counts as one, as in the ADK's code.
    pub fn adk_braces(mut self) -> Self {
        self.flags |= sys::SES_RENDER_ADK_BRACES;
        self
    }
    /// White space of any script around a name is ignored, as in the ADK's code: the space of Japanese
    /// keyboards, for example.
    pub fn adk_spaces(mut self) -> Self {
        self.flags |= sys::SES_RENDER_ADK_SPACES;
        self
    }
    /// Reads an artifact that a template names, or returns [`Code::NotFound`](crate::Code::NotFound).
    pub fn artifacts(mut self, store: &'a Store, read: impl FnMut(&str) -> Result<String> + 'a) -> Self {
        self.artifacts = Some(Artifacts { store: store.raw(), read: Box::new(read) });
        self
    }

    pub(super) fn with_raw<T>(
        &mut self,
        function: impl FnOnce(*const sys::ses_render_options) -> Result<T>,
    ) -> Result<T> {
        let mut raw: sys::ses_render_options = sized();
        raw.flags = self.flags;
        let Some(artifacts) = &mut self.artifacts else {
            return function(&raw);
        };
        let mut artifacts = Callback::new(artifacts);
        raw.artifacts = Some(artifact_of);
        raw.artifacts_context = artifacts.context();
        let result = function(&raw);
        artifacts.end(result)
    }
}

unsafe extern "C" fn artifact_of(
    context: *mut c_void,
    name: *const c_char,
    text: *mut *mut c_char,
    len: *mut usize,
    error: *mut sys::ses_error,
) -> c_int {
    let name = unsafe { crate::text::name(name) };
    let read =
        |artifacts: &mut &mut Artifacts<'_>| (artifacts.read)(name).map(|text| (artifacts.store, text));
    let (store, artifact) = match unsafe { Callback::run(context, read) }.unwrap_or_else(|| Err(panicked())) {
        Ok(artifact) => artifact,
        Err(failure) => return failure.to_raw(error),
    };
    let made = unsafe { sys::ses_text_make(store, artifact.len()) };
    if made.is_null() {
        return nothing().to_raw(error);
    }
    unsafe {
        ptr::copy_nonoverlapping(artifact.as_ptr().cast(), made, artifact.len());
        *text = made;
        *len = artifact.len();
    }
    0
}

impl SessionView {
    /// Renders an instruction template with the state of the handle.
    pub fn render(&self, template: &str, options: &mut RenderOptions<'_>) -> Result<Json> {
        options.with_raw(|options| {
            take_required(|text, len, error| unsafe {
                sys::ses_render(
                    SessionView::raw(self),
                    template.as_ptr().cast(),
                    template.len(),
                    options,
                    text,
                    len,
                    error,
                )
            })
        })
    }
}
