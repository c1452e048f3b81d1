//! What FMUs say through their logger callback, and what they throw. The last
//! of it belongs to an error, and is made safe to show as it comes.

use std::collections::VecDeque;
use std::ffi::{c_char, c_int, CStr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use wiregauge_system::text::escape_short;

/// The most of a message that is kept, in characters.
const LONGEST: usize = 400;
/// Messages that are kept.
const KEPT: usize = 8;

static MESSAGES: Mutex<VecDeque<String>> = Mutex::new(VecDeque::new());
static THROWN: Mutex<Option<String>> = Mutex::new(None);

fn messages() -> MutexGuard<'static, VecDeque<String>> {
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps a message.
pub fn store(category: &str, text: &str) {
    let text = to_line(text);
    if text.is_empty() {
        return;
    }
    let mut kept = messages();
    if kept.len() == KEPT {
        kept.pop_front();
    }
    kept.push_back(if category.is_empty() {
        text
    } else {
        format!("[{}] {text}", to_line(category))
    });
}

/// Words of an FMU in a line that no terminal obeys, of which the beginning is kept.
fn to_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", escape_short(&words[..end])),
        None => escape_short(&words),
    }
}

/// Forgets them all and returns the last `count` of them.
pub fn take_last(count: usize) -> Vec<String> {
    let kept: Vec<String> = messages().drain(..).collect();
    kept[kept.len().saturating_sub(count)..].to_vec()
}

/// What an FMU threw last, if that was not taken yet.
pub fn take_thrown() -> Option<String> {
    THROWN.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// A text that an FMU handed over.
///
/// # Safety
/// Null, or a string that ends with a zero byte.
pub unsafe fn text(from: *const c_char) -> String {
    if from.is_null() {
        return String::new();
    }
    // SAFETY: not null, and ended by a zero byte, as the caller promises.
    unsafe { CStr::from_ptr(from) }.to_string_lossy().into_owned()
}

/// Where shim.cpp brings what an FMU threw.
///
/// # Safety
/// The text is null or ends with a zero byte.
#[no_mangle]
unsafe extern "C" fn wiregauge_cosim_thrown(what: *const c_char) {
    // SAFETY: shim.cpp hands over a buffer that snprintf ended.
    let what = unsafe { text(what) };
    *THROWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(to_line(&what));
}

/// Where shim.cpp brings the messages of FMI 2 FMUs.
///
/// # Safety
/// The texts are null or end with a zero byte.
#[no_mangle]
unsafe extern "C" fn wiregauge_cosim_log(
    _instance: *const c_char,
    _status: c_int,
    category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: the FMU's category, and shim.cpp's own text: null or ended by a zero
    // byte, as FMI promises.
    let (category, message) = unsafe { (text(category), text(message)) };
    store(&category, &message);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_kept() {
        for number in 0..20 {
            store("OSI", &format!("message\n {number}"));
        }
        assert_eq!(take_last(2), ["[OSI] message 18", "[OSI] message 19"]);
        assert_eq!(take_last(2), [""; 0]);
        store("", &"x".repeat(1 << 20));
        assert_eq!(take_last(1)[0].chars().count(), LONGEST + 1);
        store("\x1b[1m", "\x1b[2J\nforged");
        assert_eq!(take_last(1), ["[\\u{1b}[1m] \\u{1b}[2J forged"]);
    }
}
