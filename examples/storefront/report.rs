//! The table at the end, and what guarding was worth.

use crate::client::LIMIT;
use crate::tally::{Run, Tally};
use crate::timetable::{Phase, Timetable};
use comfy_table::{Cell, CellAlignment, Table, presets};
use resil::{Reason, Setting, Value};
use std::time::Duration;

const REASONS: [Reason; 5] = [
    Reason::CircuitOpen,
    Reason::RateLimited,
    Reason::BulkheadFull,
    Reason::TimedOut,
    Reason::DeadlineExceeded,
];

/// The most searches at a time: those that have a place, and those that the client has just given up, of which the upstream
/// does not know yet.
const SEARCHES: u32 = 16;

/// One phase in both runs.
pub(crate) struct Row {
    phase: Phase,
    bare: Tally,
    guarded: Tally,
}

pub(crate) fn rows(timetable: &Timetable, bare: &Run, guarded: &Run) -> Vec<Row> {
    let row = |(index, &phase)| Row {
        phase,
        bare: bare.phase(timetable, index),
        guarded: guarded.phase(timetable, index),
    };
    timetable.phases.iter().enumerate().map(row).collect()
}

pub(crate) fn print(rows: &[Row]) {
    let requests = rows.first().map_or(0, |row| row.bare.requests);
    println!("{requests} requests in each phase of each run\n{}", table(rows));
    println!("{}", legend());
    let not_sent: usize = rows.iter().map(|row| row.bare.not_sent + row.guarded.not_sent).sum();
    if not_sent > 0 {
        println!(
            "{not_sent} requests were not sent, because --max-in-flight were under way; they count as failed."
        );
    }
    println!();
    for row in rows {
        println!("{}", in_words(row));
    }
    println!("\n{}", prevented(rows));
    println!("{}", policies());
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    let mut head = vec!["phase", "calls", "success", "of it by\nfallback", "checkouts\npassed"];
    head.extend([
        "p50\nms",
        "p99\nms",
        "upstream\ncalls",
        "429",
        "searches\nat once",
        "retries",
        "with-\nheld",
    ]);
    head.extend(REASONS.map(in_two_lines));
    table.set_header(head);
    for row in rows {
        table.add_row(cells(row.phase.as_str(), "bare", &row.bare));
        table.add_row(cells("", "guarded", &row.guarded));
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn cells(phase: &str, calls: &str, tally: &Tally) -> Vec<Cell> {
    let mut texts = vec![
        phase.to_owned(),
        calls.to_owned(),
        percent(tally.success()),
        percent(tally.fallback()),
        percent(tally.checkout_success()),
        ms(tally.p50),
        ms(tally.p99),
        tally.upstream.to_string(),
        tally.turned_away.to_string(),
        tally.most_searches.to_string(),
        tally.retries.to_string(),
        tally.withheld.to_string(),
    ];
    texts.extend(REASONS.map(|reason| tally.refused(reason).to_string()));
    texts.into_iter().map(Cell::new).collect()
}

const fn in_two_lines(reason: Reason) -> &'static str {
    match reason {
        Reason::CircuitOpen => "circuit\nopen",
        Reason::RateLimited => "rate\nlimited",
        Reason::BulkheadFull => "bulkhead\nfull",
        Reason::TimedOut => "timed\nout",
        Reason::DeadlineExceeded => "deadline\nexceeded",
        other => other.as_str(),
    }
}

fn legend() -> String {
    format!(
        "bare: HTTP with a time limit of {LIMIT:?}. guarded: the same calls with #[resilient], whose deadline is \
         {LIMIT:?} too.\n\
         A request belongs to the phase in which it arrived; its latency counts whether it was answered or not.\n\
         upstream calls: counted by the upstream as they reach it; 429: those that the carrier turned away, which cuts off\n\
         who asks too often; searches at once: the most that its engine had. retries: made; withheld: not paid for by the\n\
         budget. circuit open, rate limited, bulkhead full: refused by breaker, rate limiter, bulkhead. timed out:\n\
         attempts ended by `timeout`. deadline exceeded: calls ended by the limit of {LIMIT:?} (the bare ones: by HTTP's)."
    )
}

/// Every policy in this binary, with what it was set to.
fn policies() -> String {
    let mut lines: Vec<_> = resil::catalog().iter().map(|policy| in_a_line(&policy)).collect();
    lines.sort();
    format!("\nwhat guards the calls, from resil::catalog():\n  {}", lines.join("\n  "))
}

fn in_a_line(policy: &resil::Entry) -> String {
    let settings = policy.settings().into_iter().filter(|setting| setting.value != Value::Off);
    let settings: Vec<_> =
        settings.map(|Setting { name, value }| format!("{name} {value}")).collect();
    format!("{} {}: {}", policy.name(), policy.kind(), settings.join(", "))
        .trim_end_matches(": ")
        .to_owned()
}

/// What guarding brought and cost in one phase.
fn in_words(row: &Row) -> String {
    let (bare, guarded) = (&row.bare, &row.guarded);
    format!(
        "{:<10}  success {} → {}, p99 {} → {} ms, upstream calls {}",
        row.phase.as_str(),
        percent(bare.success()),
        percent(guarded.success()),
        ms(bare.p99),
        ms(guarded.p99),
        change(bare.upstream, guarded.upstream),
    )
}

/// What each of the shared policies prevented, over all phases.
fn prevented(rows: &[Row]) -> String {
    let sum = |of: fn(&Tally) -> usize| -> (usize, usize) {
        (rows.iter().map(|row| of(&row.bare)).sum(), rows.iter().map(|row| of(&row.guarded)).sum())
    };
    let most = |of: fn(&Row) -> &Tally| {
        rows.iter().map(|row| of(row).most_searches).max().unwrap_or_default()
    };
    let refused = |reason| rows.iter().map(|row| row.guarded.refused(reason)).sum::<usize>();
    let ill = |of: fn(&Tally) -> usize| -> usize {
        let ill = rows.iter().filter(|row| matches!(row.phase, Phase::Failing | Phase::Hanging));
        ill.map(|row| of(&row.guarded)).sum()
    };
    let (bare_429, guarded_429) = sum(|tally| tally.turned_away);
    let (_, retries) = sum(|tally| tally.retries);
    let (_, withheld) = sum(|tally| tally.withheld);
    format!(
        "what each of the shared policies prevented:\n\
         \x20 rate_limiter quotes: {} calls refused here, so that the carrier turned away {guarded_429} instead of {bare_429}\n\
         \x20 bulkhead searches: {} calls refused, so that at most {} searched at a time instead of {}\n\
         \x20 retry_budget retries: {withheld} retries not made, {} of them while the upstream failed or hung; {retries} made\n\
         \x20 circuit_breaker upstream: {} calls refused",
        refused(Reason::RateLimited),
        refused(Reason::BulkheadFull),
        most(|row| &row.guarded),
        most(|row| &row.bare),
        ill(|tally| tally.withheld),
        refused(Reason::CircuitOpen),
    )
}

/// What a guarded run promises and did not keep here; empty if all is well.
pub(crate) fn broken(rows: &[Row]) -> Vec<String> {
    let mut broken = Vec::new();
    for Row { phase, bare, guarded } in rows {
        let mut promise = |kept: bool, what: &str| {
            if !kept {
                broken.push(format!("{}: {what}", phase.as_str()));
            }
        };
        promise(guarded.success() >= bare.success(), "the guarded success rate is lower");
        promise(guarded.turned_away <= bare.turned_away / 10, "the carrier was asked too often");
        promise(guarded.most_searches <= SEARCHES, "too many searched at a time");
        if matches!(phase, Phase::Rush) {
            promise(
                guarded.p99 * 2 <= bare.p99,
                "the guarded p99 is more than half of the bare one",
            );
        }
        if matches!(phase, Phase::Failing | Phase::Hanging) {
            promise(
                guarded.p99 * 3 <= bare.p99,
                "the guarded p99 is more than a third of the bare one",
            );
            promise(
                guarded.upstream * 3 <= bare.upstream,
                "more than a third of the bare upstream calls",
            );
        }
    }
    broken
}

fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

fn ms(time: Duration) -> String {
    format!("{:.0}", time.as_secs_f64() * 1e3)
}

fn change(from: usize, to: usize) -> String {
    let percent = (to as f64 / from.max(1) as f64 - 1.0) * 100.0;
    format!("{from} → {to} ({percent:+.0}%)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use resil::Kind;

    #[test]
    fn both_clients_have_the_same_limit() {
        let deadlines = resil::catalog().iter().filter(|policy| policy.kind() == Kind::Deadline);
        let limits: Vec<_> =
            deadlines.flat_map(|policy| policy.settings()).map(|setting| setting.value).collect();
        assert_eq!(limits, [Value::Duration(LIMIT); 4]);
    }
}
