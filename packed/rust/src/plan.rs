//! How the columns of a table are reduced: by presets, and by what is said of columns.

use std::str::FromStr;

use crate::element::Element;
use crate::error::{Error, Fault, Result};
use crate::find::Kind;
use crate::preset::Preset;
use crate::reduce::{is_resolution, Reduction};
use crate::unit::{is_unit_of, quantity, unit};

/// How columns are reduced. Nothing is, unless it says so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// Of several that tell of the same rows the last one holds.
    pub presets: Vec<&'static Preset>,
    /// What is said of columns, whatever the presets say; of one column the last.
    pub rules: Vec<Rule>,
    /// Whether widths are whole bytes, for what is compressed afterwards.
    pub whole_bytes: bool,
}

/// What is said of a column, as `time_of_flight=6.67ps`.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The column's name.
    pub column: String,
    /// What becomes of it.
    pub how: How,
}

/// What becomes of a column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// It is not reduced.
    Plain,
    /// It is reduced, and every bit comes back.
    Exact,
    /// It is reduced to a resolution, in this unit or where it is empty the column's.
    Resolution(f64, &'static str),
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Rule, String> {
        // Names may have a '=' too, resolutions none.
        let (column, value) = text
            .rsplit_once('=')
            .filter(|(column, _)| !column.is_empty())
            .ok_or("write COLUMN=RESOLUTION, such as time_of_flight=6.67ps")?;
        let how = match value.trim() {
            "plain" => How::Plain,
            "exact" => How::Exact,
            value => {
                let wrong =
                    "a resolution is a number above 0 with or without a unit (s ms us ns ps, \
                             m cm mm um, rad mrad urad deg, Hz kHz MHz, m/s cm/s mm/s, dB, %), \
                             or exact, or plain";
                let (step, unit) = quantity(value).ok_or_else(|| format!("{column}: {wrong}"))?;
                if !is_resolution(Element::F64, step) {
                    return Err(format!("{column}: {wrong}"));
                }
                How::Resolution(step, unit)
            }
        };
        Ok(Rule { column: column.to_owned(), how })
    }
}

impl Plan {
    /// How a column is reduced.
    ///
    /// # Errors
    ///
    /// [`Fault::Resolution`] where a rule gives one to what is neither f64 nor f32, and
    /// [`Fault::Unit`] where the column has another unit.
    pub fn reduction(
        &self,
        kind: Option<Kind>,
        column: &str,
        element: Element,
    ) -> Result<Option<Reduction>> {
        let rule = self.rules.iter().rev().find(|rule| rule.column == column);
        let preset = || self.presets.iter().rev().find(|preset| preset.is_for(kind));
        let resolution = match rule.map(|rule| rule.how) {
            Some(How::Plain) => return Ok(None),
            Some(How::Exact) => None,
            Some(How::Resolution(step, said)) => {
                if !is_unit_of(unit(kind, column), said) {
                    return Err(Error::new(Fault::Unit, 0, column));
                }
                if !is_resolution(element, step) {
                    return Err(Error::new(Fault::Resolution, 0, column));
                }
                Some(step)
            }
            None => {
                let Some(preset) = preset() else { return Ok(None) };
                let of = preset.resolutions.iter().find(|(name, _)| *name == column);
                of.map(|(_, step)| *step).filter(|step| is_resolution(element, *step))
            }
        };
        Ok(Some(Reduction { resolution, whole_bytes: self.whole_bytes }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Option<Kind> = Some(Kind::LidarReflections);

    fn plan(presets: &[&str], rules: &[&str]) -> Plan {
        Plan {
            presets: presets.iter().map(|name| Preset::find(name).unwrap()).collect(),
            rules: rules.iter().map(|rule| rule.parse().unwrap()).collect(),
            whole_bytes: false,
        }
    }

    #[test]
    fn rules_go_before_presets_and_the_last_holds() {
        let of = |plan: &Plan, kind, name| plan.reduction(kind, name, Element::F64).unwrap();
        let mm = plan(&["lidar-1mm"], &[]);
        assert_eq!(of(&mm, ROWS, "time_of_flight"), Some(Reduction::resolution(6.67e-12)));
        assert_eq!(of(&mm, ROWS, "doppler_shift"), Some(Reduction::exact()));
        assert_eq!(of(&mm, Some(Kind::RadarReflections), "time_of_flight"), None);
        assert_eq!(of(&mm, None, "x"), Some(Reduction::resolution(1e-3)));
        let both = plan(&["lidar-1mm", "radar-1cm"], &["x=1mm", "x=2cm", "snr=exact", "rcs=plain"]);
        assert_eq!(of(&both, ROWS, "time_of_flight"), Some(Reduction::resolution(6.67e-12)));
        assert_eq!(of(&both, None, "x"), Some(Reduction::resolution(0.02)));
        assert_eq!(of(&both, None, "y"), Some(Reduction::resolution(0.01)));
        let radar = Some(Kind::RadarDetections);
        assert_eq!(of(&both, radar, "snr"), Some(Reduction::exact()));
        assert_eq!(of(&both, radar, "rcs"), None);
        assert_eq!(of(&Plan::default(), ROWS, "time_of_flight"), None);
        // What is no number of a resolution is exact.
        let x = mm.reduction(None, "x", Element::I16).unwrap();
        assert_eq!(x, Some(Reduction::exact()));
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let refused = |rule: &str, kind, name| {
            plan(&[], &[rule]).reduction(kind, name, Element::F64).unwrap_err().fault
        };
        assert_eq!(refused("time_of_flight=1mm", ROWS, "time_of_flight"), Fault::Unit);
        assert_eq!(refused("range=1mm", None, "range"), Fault::Unit);
        let id = plan(&[], &["object_id=1"]).reduction(ROWS, "object_id", Element::U64);
        assert_eq!(id.unwrap_err().fault, Fault::Resolution);
        for rule in ["x", "=1", "x=", "x=0", "x=-1mm", "x=nan", "x=inf", "x=1e999", "x=1 mile"] {
            assert!(rule.parse::<Rule>().is_err(), "{rule}");
        }
        let odd: Rule = "a=b=1e-3".parse().unwrap();
        assert_eq!((odd.column.as_str(), odd.how), ("a=b", How::Resolution(1e-3, "")));
        let rcs = plan(&[], &["rcs=0.5dB"]);
        let rcs = rcs.reduction(Some(Kind::RadarDetections), "rcs", Element::F64).unwrap();
        assert_eq!(rcs, Some(Reduction::resolution(0.5)));
    }
}
