//! Times: nanoseconds here, a number of seconds in the stored event, microseconds in the store's columns.

use chrono::{DateTime, Utc};

const NANOS: i128 = 1_000_000_000;

pub(crate) fn from_micros(micros: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(micros).unwrap_or_default()
}

fn nanos(time: DateTime<Utc>) -> i128 {
    i128::from(time.timestamp()) * NANOS + i128::from(time.timestamp_subsec_nanos())
}

/// Seconds since 1970, exact, as the ADK for Python writes them.
pub(crate) fn to_seconds(time: DateTime<Utc>) -> String {
    let nanos = nanos(time);
    let sign = if nanos < 0 { "-" } else { "" };
    let text = format!("{sign}{}.{:09}", nanos.abs() / NANOS, nanos.abs() % NANOS);
    // At least one digit stays, so that Python reads a float.
    let digits = text.trim_end_matches('0').len();
    let shortest = text.find('.').map_or(0, |point| point + 2);
    text[..digits.max(shortest)].to_owned()
}

/// Reads the timestamp of an event with its nanoseconds. `micros` is what the store has read; it decides
/// where the text is of another form.
pub(crate) fn from_event(json: Option<&str>, micros: i64) -> DateTime<Utc> {
    let exact = json.and_then(|json| match json.strip_prefix('"') {
        Some(text) => {
            DateTime::parse_from_rfc3339(text.strip_suffix('"')?).ok().map(|time| time.with_timezone(&Utc))
        }
        None => seconds(json),
    });
    match exact {
        // Milliseconds and seconds must denote the same time.
        Some(time) if (nanos(time) - i128::from(micros) * 1000).abs() <= 1000 => time,
        _ => from_micros(micros),
    }
}

fn seconds(text: &str) -> Option<DateTime<Utc>> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |digits| (-1, digits));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    if fraction.len() > 9 || !(whole.to_owned() + fraction).bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: i128 = format!("{fraction:0<9}").parse().ok()?;
    let nanos = sign * (whole.parse::<i128>().ok()?.checked_mul(NANOS)? + fraction);
    let seconds = i64::try_from(nanos.div_euclid(NANOS)).ok()?;
    DateTime::from_timestamp(seconds, u32::try_from(nanos.rem_euclid(NANOS)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_goes_there_and_back() {
        for nanos in [0, 1, 999_999_999, 1_000_000_000, 1_742_123_456_123_456_789, -1, -1_500_000_000] {
            let time = DateTime::from_timestamp_nanos(nanos);
            let micros = (nanos as f64 / 1000.0).round() as i64;
            assert_eq!(from_event(Some(&to_seconds(time)), micros), time, "{}", to_seconds(time));
        }
        assert_eq!(to_seconds(DateTime::from_timestamp_nanos(1_500_000_000)), "1.5");
        assert_eq!(to_seconds(DateTime::from_timestamp_nanos(2_000_000_000)), "2.0");
    }

    #[test]
    fn other_forms_are_read_as_the_store_reads_them() {
        assert_eq!(
            from_event(Some("1742123456789"), 1_742_123_456_789_000),
            from_micros(1_742_123_456_789_000)
        );
        assert_eq!(from_event(Some("1e3"), 1_000_000_000), from_micros(1_000_000_000));
        assert_eq!(from_event(None, 5), from_micros(5));
        let text = "\"2025-03-02T21:46:06.000000001Z\"";
        assert_eq!(from_event(Some(text), 1_740_951_966_000_000).timestamp_subsec_nanos(), 1);
    }
}
