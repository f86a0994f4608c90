use std::ffi::{c_int, CStr};
use std::fmt;
use std::io;
use std::ptr::{self, NonNull};

use seslite_sys as sys;

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:ident,)*) => {
        /// Why a call failed. `ses_code` in `seslite.h` has the numbers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* $name,)*
            /// A code that this crate does not know.
            Other(i32),
        }

        impl Code {
            pub(crate) fn from_number(number: c_int) -> Code {
                match number {
                    $(sys::$code => Code::$name,)*
                    other => Code::Other(other),
                }
            }

            /// The number that the C library uses.
            pub fn number(self) -> i32 {
                match self {
                    $(Code::$name => sys::$code,)*
                    Code::Other(number) => number,
                }
            }

            /// Every code that has a name.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];
        }
    };
}

codes! {
    /// Out of memory.
    NoMemory = SES_NOMEM,
    /// The call is wrong: a closed store, an unknown option.
    Misuse = SES_MISUSE,
    /// A value breaks a rule: an id, a state key, a field of the wrong type.
    Invalid = SES_INVALID,
    /// The text is not strict JSON.
    Json = SES_JSON,
    /// No such session, artifact or file, or a template names a missing key.
    NotFound = SES_NOTFOUND,
    /// The session already exists, or the event's id already exists with different content.
    Exists = SES_EXISTS,
    /// Another writer appended in the meantime: refresh the handle.
    Stale = SES_STALE,
    /// Still locked after the busy timeout, or when the time limit was over.
    Busy = SES_BUSY,
    /// The store, the file or the view is read-only.
    ReadOnly = SES_READONLY,
    /// The disk is full.
    Full = SES_FULL,
    /// Reading or writing the file failed.
    Io = SES_IO,
    /// The file is damaged.
    Corrupt = SES_CORRUPT,
    /// The file is not a seslite store.
    NotAStore = SES_NOTASTORE,
    /// The store was written by a newer version of seslite.
    TooNew = SES_TOONEW,
    /// A limit is exceeded.
    Limit = SES_LIMIT,
    /// The call was interrupted or cancelled, or its time was over.
    Interrupted = SES_INTERRUPTED,
    /// The state value has a different type.
    Type = SES_TYPE,
    /// The value does not fit the requested type.
    Range = SES_RANGE,
    /// The file cannot be opened.
    CannotOpen = SES_CANTOPEN,
    /// The database engine returned something unexpected.
    Internal = SES_INTERNAL,
    /// The outcome of the commit is not known: send the same event again.
    Unknown = SES_UNKNOWN,
    /// Another owner has taken the session's lease.
    Leased = SES_LEASED,
    /// A foreign key of an added table forbids it.
    Constraint = SES_CONSTRAINT,
    /// The key is wrong, or the file is not a store. No call of this version returns it.
    Key = SES_KEY,
    /// The store holds, or the call needs, what this library or its SQLite cannot do.
    Unsupported = SES_UNSUPPORTED,
}

impl Code {
    /// "SES_NOTFOUND".
    pub fn name(self) -> &'static str {
        static_text(unsafe { sys::ses_code_name(self.number()) })
    }
}

pub(crate) fn static_text(text: *const std::ffi::c_char) -> &'static str {
    // The library's static texts are ASCII and never NULL.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("?")
}

/// The error of one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    pub(crate) code: Code,
    pub(crate) version: Option<i64>,
    pub(crate) engine_code: i32,
    pub(crate) offset: Option<u64>,
    pub(crate) index: Option<u64>,
    pub(crate) made_ids: Vec<String>,
    pub(crate) message: String,
}

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of your own, for callbacks to return.
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error {
            code,
            version: None,
            engine_code: 0,
            offset: None,
            index: None,
            made_ids: Vec::new(),
            message: message.into(),
        }
    }

    pub fn code(&self) -> Code {
        self.code
    }
    /// After [`Code::Stale`]: the version that the session has now.
    pub fn version(&self) -> Option<i64> {
        self.version
    }
    /// SQLite's extended result code, or the number of MySQL's error; otherwise 0.
    pub fn engine_code(&self) -> i32 {
        self.engine_code
    }
    /// The byte at which a JSON text is wrong.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }
    /// The rejected event of a batch, counted from 0.
    pub fn index(&self) -> Option<u64> {
        self.index
    }
    /// After [`Code::Unknown`] of an append, for each event: the id that the library made, or "". Send the
    /// event again with it as its first member.
    pub fn made_ids(&self) -> &[String] {
        &self.made_ids
    }
    /// A description of the failure, where it happened, and a remedy.
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn from_raw(code: c_int, raw: &sys::ses_error) -> Error {
        let bytes: Vec<u8> = raw.message.iter().take_while(|&&c| c != 0).map(|&c| c as u8).collect();
        Error {
            code: Code::from_number(code),
            version: (raw.version >= 0 && code == sys::SES_STALE).then_some(raw.version),
            engine_code: raw.engine_code,
            offset: u64::try_from(raw.offset).ok(),
            index: u64::try_from(raw.index).ok(),
            made_ids: Vec::new(),
            message: String::from_utf8_lossy(&bytes).into_owned(),
        }
    }

    /// As the error of a reader. It is never [`io::ErrorKind::Interrupted`], since that is what readers try
    /// again.
    pub(crate) fn into_io(self) -> io::Error {
        let kind = match self.code {
            Code::NotFound => io::ErrorKind::NotFound,
            Code::Corrupt => io::ErrorKind::InvalidData,
            Code::NoMemory => io::ErrorKind::OutOfMemory,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, self)
    }

    /// Writes the error where the library reads a callback's failure from.
    pub(crate) fn to_raw(&self, raw: *mut sys::ses_error) -> c_int {
        let code = match self.code.number() {
            negative if negative < 0 => negative,
            _ => sys::SES_MISUSE,
        };
        if let Some(raw) = unsafe { raw.as_mut() } {
            raw.code = code;
            // Cut at a character, and end in a NUL.
            let mut len = self.message.len().min(raw.message.len() - 1);
            while !self.message.is_char_boundary(len) {
                len -= 1;
            }
            for (to, &from) in raw.message.iter_mut().zip(&self.message.as_bytes()[..len]) {
                *to = from as std::ffi::c_char;
            }
            raw.message[len] = 0;
        }
        code
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// Of a reader or a writer. If the error is one of the library, as [`Artifact`](crate::Artifact) returns it,
/// that is taken out.
impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        error.downcast().unwrap_or_else(|other| Error::new(Code::Io, other.to_string()))
    }
}

/// Makes a call of the library: gives it a `ses_error`, and turns a negative code into an [`Error`]. The
/// other results stay numbers whose meaning the call states.
pub(crate) fn call(function: impl FnOnce(*mut sys::ses_error) -> c_int) -> Result<c_int> {
    let mut raw = std::mem::MaybeUninit::<sys::ses_error>::zeroed();
    let code = function(raw.as_mut_ptr());
    if code < 0 {
        // Zeroed memory is a valid ses_error, and the call has filled it.
        return Err(Error::from_raw(code, unsafe { raw.assume_init_ref() }));
    }
    Ok(code)
}

/// The same for a call whose success says no more.
pub(crate) fn done(function: impl FnOnce(*mut sys::ses_error) -> c_int) -> Result<()> {
    call(function).map(drop)
}

/// The same for a call that gives an object, which the caller closes.
pub(crate) fn opened<T>(open: impl FnOnce(*mut *mut T, *mut sys::ses_error) -> c_int) -> Result<NonNull<T>> {
    let mut object = ptr::null_mut();
    call(|error| open(&mut object, error))?;
    NonNull::new(object)
        .ok_or_else(|| Error::new(Code::Internal, "the library returned nothing; please report this"))
}
