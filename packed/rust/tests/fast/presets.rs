//! Presets on whole messages: what they promise is kept, and what they do not name stays.

use std::fs;

use crate::common::{golden, root, GOLDEN};
use wiregauge_packed::{
    find, pack, unpack, Element, Fault, Kind, PackOptions, Plan, Preset, UnpackOptions, View,
    PRESETS,
};

fn options(plan: Plan) -> PackOptions {
    PackOptions { plan, ..PackOptions::default() }
}

fn preset(name: &str) -> Plan {
    Plan { presets: vec![Preset::find(name).unwrap()], ..Plan::default() }
}

#[test]
fn exact_presets_give_the_same_message_to_the_byte() {
    for (name, _) in GOLDEN {
        let message = fs::read(golden(&format!("{name}.osi"))).unwrap();
        for whole_bytes in [false, true] {
            let mut plan = preset("lidar-exact");
            plan.presets.push(Preset::find("radar-exact").unwrap());
            plan.whole_bytes = whole_bytes;
            let (packed, told) = pack(root(name), &message, &options(plan)).unwrap();
            assert!(!told.is_empty() && told.iter().all(|column| column.error == 0.0));
            let back = unpack(root(name), &packed, &UnpackOptions::default()).unwrap();
            assert!(back == message, "{name} is another message");
        }
    }
}

#[test]
fn each_preset_keeps_what_it_promises() {
    let mut seen = 0;
    // The sparse view has times that no resolution holds.
    for (name, _) in GOLDEN.iter().filter(|(name, _)| *name != "SensorView.sparse") {
        let message = fs::read(golden(&format!("{name}.osi"))).unwrap();
        let (plain, _) = pack(root(name), &message, &PackOptions::default()).unwrap();
        for chosen in &PRESETS {
            let (packed, told) = pack(root(name), &message, &options(preset(chosen.name))).unwrap();
            let found = find(root(name), &packed).unwrap();
            let mut told = told.iter();
            let fields = |data| find(root(name), data).unwrap().into_iter();
            for (of, given) in found.iter().zip(fields(&plain)) {
                let (Some(field), Some(given)) = (of.field, given.field) else { continue };
                let (view, given) = (View::open(field).unwrap(), View::open(given).unwrap());
                for column in view.columns() {
                    let is_mine = chosen.kinds.contains(&of.kind);
                    let has_elements = column.element != Some(Element::None);
                    assert_eq!(column.is_reduced(), is_mine && has_elements, "{}", column.name);
                    let promised = chosen.resolutions.iter().find(|(name, _)| *name == column.name);
                    let promised = promised.filter(|_| is_mine).map(|(_, step)| *step);
                    assert_eq!(column.resolution(), promised, "{}", column.name);
                    let of_given = given.values(column.name).unwrap();
                    let mut largest = 0.0f64;
                    for row in (0..view.rows()).filter(|row| column.present(*row)) {
                        let (value, was) = (column.value(row), of_given.value(row));
                        if was.is_finite() {
                            largest = largest.max((value - was).abs());
                        }
                    }
                    assert!(largest <= promised.unwrap_or(0.0) / 2.0, "{}", column.name);
                    let told = told.next().expect("each column is told of, in its order");
                    assert_eq!((told.kind, &*told.name), (Some(of.kind), column.name));
                    assert_eq!(told.error, largest, "{} {name}", column.name);
                    seen += usize::from(promised.is_some());
                }
            }
        }
    }
    assert!(seen > 8, "only {seen} columns had a resolution");
}

#[test]
fn rules_that_cannot_be_are_refused_with_their_column() {
    let message = fs::read(golden("SensorView.full.osi")).unwrap();
    for (rule, fault) in [
        ("time_of_flight=1mm", Fault::Unit),
        ("object_id=1", Fault::Resolution),
        ("signal_strength=1e-300", Fault::Steps),
    ] {
        let plan = Plan { rules: vec![rule.parse().unwrap()], ..Plan::default() };
        let error = pack(root("SensorView"), &message, &options(plan)).unwrap_err();
        assert_eq!((error.fault, rule.starts_with(&error.name)), (fault, true), "{error}");
    }
    assert_eq!(Preset::find("lidar-1cm"), None);
    assert_eq!(wiregauge_packed::unit(Some(Kind::LidarDetections), "height"), "m");
}
