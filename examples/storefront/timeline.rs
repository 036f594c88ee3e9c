//! The timeline: success rate, latency, upstream calls and the breaker's state over time, as an SVG file.

use crate::tally::{Run, Tally};
use crate::timetable::Timetable;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use resil::State;
use std::error::Error;
use std::path::Path;
use std::time::Duration;

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn Error>>;

const SIZE: (u32, u32) = (1_200, 920);
const SLICE: Duration = Duration::from_millis(200);
/// Two colours that nearly everybody can tell apart.
const BARE: RGBColor = RGBColor(213, 94, 0);
const GUARDED: RGBColor = RGBColor(0, 114, 178);
const INK: RGBColor = RGBColor(60, 60, 60);

/// A line of one panel: what it shows of a slice of time, of whom, and how thick it is.
struct Line<'a> {
    run: &'a Run,
    of: fn(&Tally) -> f64,
    width: u32,
}

impl Line<'_> {
    fn colour(&self) -> RGBColor {
        if self.run.name == "bare" { BARE } else { GUARDED }
    }
}

/// Draws both runs.
pub(crate) fn draw(path: &Path, timetable: &Timetable, bare: &Run, guarded: &Run) -> Drawn {
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let (head, rest) = root.split_vertically(70);
    let (success, rest) = rest.split_vertically(240);
    let (latency, rest) = rest.split_vertically(270);
    let (upstream, breaker) = rest.split_vertically(210);

    title(&head)?;
    let line = |run, of, width| Line { run, of, width };
    let lines = |of, width| [line(bare, of, width), line(guarded, of, width)];
    let [bare_share, guarded_share] = lines(|tally| tally.success() * 100.0, 2);
    let fresh = line(guarded, |tally| (tally.success() - tally.fallback()) * 100.0, 1);
    panel(
        &success,
        "success rate (thin: without the answers of fallbacks)",
        timetable,
        0.0..105.0,
        |v| format!("{v:.0}%"),
        &[bare_share, guarded_share, fresh],
    )?;

    let [bare_p50, guarded_p50] = lines(|tally| millis(tally.p50), 1);
    let [bare_p99, guarded_p99] = lines(|tally| millis(tally.p99), 2);
    let times = [bare_p50, guarded_p50, bare_p99, guarded_p99];
    let scale = (1.0..3_000.0).log_scale();
    panel(
        &latency,
        "latency (p50 thin, p99 thick)",
        timetable,
        scale,
        |v| format!("{v:.0} ms"),
        &times,
    )?;

    let calls = lines(|tally| tally.upstream as f64 / SLICE.as_secs_f64(), 2);
    let most = calls
        .iter()
        .flat_map(|line| line.run.slices(SLICE))
        .map(|(_, tally)| (calls[0].of)(&tally));
    let top = most.fold(1.0, f64::max) * 1.1;
    panel(
        &upstream,
        "upstream calls per second",
        timetable,
        0.0..top,
        |v| format!("{v:.0}"),
        &calls,
    )?;

    states(&breaker, timetable, guarded)?;
    root.present()?;
    Ok(())
}

fn title(area: &Area<'_>) -> Drawn {
    area.draw_text("One bad day of an upstream, lived through twice", &text(22, &INK), (76, 10))?;
    area.draw_text("bare calls", &text(16, &BARE), (76, 42))?;
    area.draw_text("calls guarded by #[resilient]", &text(16, &GUARDED), (170, 42))?;
    Ok(())
}

/// One panel with its lines over the phases.
fn panel<Y>(
    area: &Area<'_>,
    name: &str,
    timetable: &Timetable,
    scale: Y,
    unit: fn(&f64) -> String,
    lines: &[Line<'_>],
) -> Drawn
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .margin_right(20)
        .margin_top(22)
        .set_label_area_size(LabelAreaPosition::Left, 76)
        .set_label_area_size(LabelAreaPosition::Bottom, 22)
        .build_cartesian_2d(0.0..timetable.total().as_secs_f64(), scale)?;
    let heights = chart.plotting_area().get_y_range();
    chart.draw_series(bands(timetable).map(|(from, to, shade)| {
        Rectangle::new([(from, heights.start), (to, heights.end)], shade.filled())
    }))?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(INK.mix(0.15))
        .light_line_style(TRANSPARENT)
        .axis_style(INK.mix(0.6))
        .label_style(("sans-serif", 13))
        .y_label_formatter(&unit)
        .y_labels(6)
        .x_label_formatter(&|seconds| format!("{seconds:.0} s"))
        .draw()?;
    for line in lines {
        let points = line.run.slices(SLICE).into_iter().map(|(at, tally)| (at, (line.of)(&tally)));
        chart.draw_series(LineSeries::new(points, line.colour().stroke_width(line.width)))?;
    }
    area.draw_text(name, &text(15, &INK), (76, 4))?;
    Ok(())
}

/// The breaker's states as a band, and the names of the phases under it.
fn states(area: &Area<'_>, timetable: &Timetable, run: &Run) -> Drawn {
    let total = timetable.total().as_secs_f64();
    let mut chart = ChartBuilder::on(area)
        .margin_right(20)
        .margin_top(22)
        .margin_bottom(4)
        .set_label_area_size(LabelAreaPosition::Left, 76)
        .build_cartesian_2d(0.0..total, 0.0..2.0)?;
    chart.draw_series(
        bands(timetable)
            .map(|(from, to, shade)| Rectangle::new([(from, 0.0), (to, 2.0)], shade.filled())),
    )?;
    let ends = run.states.iter().skip(1).map(|(at, _)| at.as_secs_f64()).chain([total]);
    chart.draw_series(run.states.iter().zip(ends).map(|(&(at, state), end)| {
        Rectangle::new([(at.as_secs_f64(), 1.0), (end.min(total), 1.9)], colour(state).filled())
    }))?;
    let centred = Pos::new(HPos::Center, VPos::Center);
    let style = text(15, &INK).pos(centred);
    chart.draw_series(timetable.phases.iter().zip(bands(timetable)).map(
        |(phase, (from, to, _))| {
            Text::new(phase.as_str(), (f64::midpoint(from, to), 0.5), style.clone())
        },
    ))?;
    area.draw_text("breaker of the guarded calls:", &text(15, &INK), (76, 4))?;
    for (state, x) in [(State::Closed, 275), (State::HalfOpen, 335), (State::Open, 410)] {
        area.draw_text(state.as_str(), &text(15, &colour(state)), (x, 4))?;
    }
    Ok(())
}

/// Where each phase begins and ends, and its shade.
fn bands(timetable: &Timetable) -> impl Iterator<Item = (f64, f64, RGBAColor)> {
    let each = timetable.each.as_secs_f64();
    (0..timetable.phases.len()).map(move |index| {
        let from = index as f64 * each;
        (from, from + each, INK.mix(if index % 2 == 0 { 0.03 } else { 0.09 }))
    })
}

fn colour(state: State) -> RGBColor {
    match state {
        State::Closed => RGBColor(0, 158, 115),
        State::HalfOpen => RGBColor(230, 159, 0),
        _ => RGBColor(190, 30, 45),
    }
}

fn text(size: u32, colour: &RGBColor) -> TextStyle<'_> {
    TextStyle::from(("sans-serif", size)).color(colour)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
