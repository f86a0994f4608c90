//! The library's structs, with nothing set.

use std::ptr;

use seslite_sys as sys;

use crate::limits::Limits;

/// The library's structs for which zeros are a valid value: numbers, flags, nullable pointers and functions.
pub(crate) trait Zeroable {}

/// Those whose first member is their size.
pub(crate) trait HasSize: Zeroable {
    fn set_size(&mut self);
}

/// Those that also have the limits of a call. They are not `HasSize`, so that no call can be made without its
/// limits.
pub(crate) trait HasLimits: Zeroable {
    fn set(&mut self, limits: &Limits);
}

macro_rules! zeroable {
    ($($name:ident,)*) => { $(impl Zeroable for sys::$name {})* };
}

macro_rules! sized {
    ($($name:ident,)*) => {
        zeroable! { $($name,)* }
        $(impl HasSize for sys::$name {
            fn set_size(&mut self) {
                self.size = std::mem::size_of::<Self>();
            }
        })*
    };
}

macro_rules! limits {
    ($($name:ident,)*) => {
        zeroable! { $($name,)* }
        $(impl HasLimits for sys::$name {
            fn set(&mut self, limits: &Limits) {
                self.size = std::mem::size_of::<Self>();
                self.timeout_ms = limits.timeout_ms();
                self.cancel = limits.cancel_raw();
            }
        })*
    };
}

zeroable! { ses_appended, ses_lease, ses_load_result, }

sized! {
    ses_open_options, ses_range, ses_filter, ses_point, ses_erased, ses_space, ses_loaded, ses_import_report, ses_info, ses_stats,
    ses_render_options, ses_track_options,
}

limits! {
    ses_call_options, ses_create_options, ses_append_options, ses_list_options, ses_names_options, ses_delete_options,
    ses_rewind_options, ses_cut_options, ses_redact_options, ses_fork_options, ses_prune_options, ses_expire_options,
    ses_maintain_options, ses_lease_options, ses_follow_options, ses_load_options, ses_export_options,
    ses_import_options, ses_backup_options, ses_check_options, ses_get_options, ses_cursor_options,
    ses_shared_state_options, ses_as_of_options, ses_context_options, ses_answer_options,
    ses_artifact_save_options, ses_artifact_open_options, ses_artifact_list_options, ses_search_options,
    ses_index_options, ses_usage_options, ses_tally_options, ses_artifact_inline_options, ses_find_options,
    ses_draft_options, ses_inbox_add_options, ses_inbox_take_options, ses_inbox_list_options,
    ses_memory_add_options, ses_memory_options,
}

/// A struct with every byte zero.
pub(crate) fn zeroed<T: Zeroable>() -> T {
    unsafe { std::mem::zeroed() }
}

/// A struct with its size and nothing else, which means all defaults.
pub(crate) fn sized<T: HasSize>() -> T {
    let mut raw: T = zeroed();
    raw.set_size();
    raw
}

/// Options with their size and the limits of the call, and nothing else. A cancel handle in the limits must
/// live as long as what the options are for.
pub(crate) fn limited<T: HasLimits>(limits: &Limits) -> T {
    let mut raw: T = zeroed();
    raw.set(limits);
    raw
}

/// NULL for `None`.
pub(crate) fn optional_ref<T>(value: &Option<T>) -> *const T {
    value.as_ref().map_or(ptr::null(), ptr::from_ref)
}
