//! Clouds of ROS: packed as the library of others writes it, and back to the byte.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::Result;
use proptest::prelude::*;
use wiregauge_packed::{How, PackOptions, Plan, Preset, Rule};
use wiregauge_packing::cloud::{Cloud, RosEncoding};
use wiregauge_packing::packer::Packer;
use wiregauge_packing::unpacker::Unpacker;
use wiregauge_trace::channel::Channel;
use wiregauge_trace::open::{self, OpenHints};
use wiregauge_trace::read::{MessageInfo, Reader};
use wiregauge_trace::write::Writer;

fn cloud_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clouds").join(name)
}

type Messages = Vec<(Channel, Vec<u8>)>;

/// A writer that keeps what is written.
#[derive(Clone, Default)]
struct RecordingWriter(Rc<RefCell<(Vec<Channel>, Messages)>>);

impl Writer for RecordingWriter {
    fn add_channel(&mut self, channel: &Channel) -> Result<u16> {
        let all = &mut self.0.borrow_mut().0;
        all.push(channel.clone());
        Ok(all.len() as u16 - 1)
    }

    fn write_message(&mut self, channel: u16, head: &MessageInfo, data: &[u8]) -> Result<()> {
        let (channels, messages) = &mut *self.0.borrow_mut();
        assert_eq!(head.size, data.len() as u64);
        messages.push((channels[usize::from(channel)].clone(), data.to_vec()));
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        Ok(())
    }
}

/// Messages of a file by a writer around another one.
fn through(messages: &Messages, by: impl FnOnce(Box<dyn Writer>) -> Box<dyn Writer>) -> Messages {
    let kept = RecordingWriter::default();
    let mut writer = by(Box::new(kept.clone()));
    let mut known: Vec<(Channel, u16)> = Vec::new();
    for (channel, data) in messages {
        let id = match known.iter().find(|(known, _)| known == channel) {
            Some((_, id)) => *id,
            None => {
                let id = writer.add_channel(channel).unwrap();
                known.push((channel.clone(), id));
                id
            }
        };
        writer.write_message(id, &head(data), data).unwrap();
    }
    writer.finish().unwrap();
    let messages = kept.0.borrow().1.clone();
    messages
}

fn head(data: &[u8]) -> MessageInfo {
    let place = wiregauge_trace::read::MessagePosition { at: 0, within: None };
    let size = data.len() as u64;
    MessageInfo { channel: 0, sequence: 0, time: None, publish_time: None, size, place }
}

fn messages(path: &Path) -> Messages {
    let mut reader: Box<dyn Reader> = open::open(path, &OpenHints::default()).unwrap();
    let mut messages = Vec::new();
    while let Some(head) = reader.next().unwrap() {
        let channel = reader.channels()[&head.channel].clone();
        messages.push((channel, reader.data().unwrap().to_vec()));
    }
    messages
}

fn exact() -> PackOptions {
    let presets = vec![Preset::find("lidar-exact").unwrap()];
    PackOptions { plan: Plan { presets, ..Plan::default() }, ..PackOptions::default() }
}

#[test]
fn clouds_are_packed_as_another_library_writes_them_and_come_back() {
    for (plain, packed, count) in
        [("ros2.mcap", "ros2.packed.mcap", 9), ("ros1.mcap", "ros1.packed.mcap", 5)]
    {
        let given = messages(&cloud_path(plain));
        assert_eq!(given.len(), count);
        let there = through(&given, |writer| Box::new(Packer::new(writer, "a", exact()).0));
        for ((channel, data), (wanted, known)) in there.iter().zip(messages(&cloud_path(packed))) {
            assert!(*data == known, "{plain}: a message of {} is another", wanted.topic);
            assert_eq!(channel.definition.name, wanted.definition.name);
        }
        let back = through(&there, |writer| Box::new(Unpacker::new(writer, "a", false).0));
        assert_eq!(back, given, "channels, definitions and bytes");
    }
}

/// A cloud of two rows of two points of x and a gap, in CDR.
fn rows(row_step: u32, data: &[u8]) -> Vec<u8> {
    fn number(out: &mut Vec<u8>, value: u32) {
        out.resize(out.len().next_multiple_of(4), 0);
        out.extend(value.to_le_bytes());
    }
    fn text(out: &mut Vec<u8>, text: &[u8]) {
        number(out, text.len() as u32);
        out.extend(text);
    }
    let mut out = vec![0, 1, 0, 0];
    [1, 2].into_iter().for_each(|value| number(&mut out, value));
    text(&mut out, b"lidar\0");
    [2, 2, 2].into_iter().for_each(|value| number(&mut out, value));
    for (name, offset, kind) in [(b"x\0", 0, 7), (b"_\0", 4, 2)] {
        text(&mut out, name);
        number(&mut out, offset);
        out.push(kind);
        number(&mut out, 1);
    }
    out.push(0);
    number(&mut out, 5);
    number(&mut out, row_step);
    text(&mut out, data);
    out.push(1);
    out
}

#[test]
fn rows_that_are_filled_up_are_packed_without_what_fills_them() {
    let point = |x: f32| [&x.to_le_bytes()[..], &[0]].concat();
    let points = [1.0, 2.0, 3.0, 4.0].map(point).concat();
    let (first, second) = points.split_at(10);
    let plain = rows(10, &points);
    for (data, left_out) in [
        ([first, &[9; 6], second, &[9; 6]].concat(), 12),
        ([first, &[9; 6], second].concat(), 6),
        ([first, &[9; 6], second, &[9; 7]].concat(), 13),
    ] {
        let padded = rows(16, &data);
        let cloud = Cloud::parse(RosEncoding::Cdr, false, &padded).unwrap();
        let (packed, _, left) = cloud.pack(&Plan::default()).unwrap();
        assert_eq!(left, left_out);
        assert_eq!(Cloud::parse(RosEncoding::Cdr, true, &packed).unwrap().unpack().unwrap(), plain);
    }
    for (step, data) in [(16, &points[..19]), (9, &[0; 40][..])] {
        let padded = rows(step, data);
        let error = Cloud::parse(RosEncoding::Cdr, false, &padded).unwrap().pack(&Plan::default());
        assert!(error.unwrap_err().to_string().contains("--exclude-channel"));
    }
}

#[test]
fn coordinates_are_as_near_as_is_told() {
    let rules = ["x=3cm", "y=exact", "t=1e-3"].map(|rule| rule.parse().unwrap()).to_vec();
    let plan = Plan { rules, ..Plan::default() };
    for (channel, data) in messages(&cloud_path("ros2.mcap")) {
        if channel.topic != "/points" {
            continue;
        }
        let cloud = Cloud::parse(RosEncoding::Cdr, false, &data).unwrap();
        let (packed, precision, left_out) = cloud.pack(&plan).unwrap();
        assert_eq!(left_out, 0);
        let back = Cloud::parse(RosEncoding::Cdr, true, &packed).unwrap().unpack().unwrap();
        let back = Cloud::parse(RosEncoding::Cdr, false, &back).unwrap();
        assert_eq!(back.content.len(), cloud.content.len());
        let step = cloud.points.step();
        let is_big = cloud.content.get(4).is_some() && data.len() < 700; // The third cloud.
        for (at, wide, most) in [(0, false, 0.015), (4, false, 0.0), (16, true, 0.5e-3)] {
            let number = |point: &[u8]| match (wide, is_big) {
                (true, false) => f64::from_le_bytes(point[at..at + 8].try_into().unwrap()),
                (true, true) => f64::from_be_bytes(point[at..at + 8].try_into().unwrap()),
                (false, false) => f32::from_le_bytes(point[at..at + 4].try_into().unwrap()).into(),
                (false, true) => f32::from_be_bytes(point[at..at + 4].try_into().unwrap()).into(),
            };
            let pairs = cloud.content.chunks(step).zip(back.content.chunks(step));
            let errors = pairs.map(|(was, is)| (number(is) - number(was)).abs());
            let largest = errors.fold(0.0, f64::max);
            assert!(largest <= most, "{at}: {largest}");
            let name = if at == 0 {
                "x"
            } else if at == 4 {
                "y"
            } else {
                "t"
            };
            let told = precision.iter().find(|column| column.name == name).unwrap();
            assert_eq!(told.error, largest);
        }
        // What no rule names is there to the bit.
        for (was, is) in cloud.content.chunks(step).zip(back.content.chunks(step)) {
            assert_eq!((&was[8..16], &was[24..]), (&is[8..16], &is[24..]));
        }
    }
}

#[test]
fn what_fills_up_the_last_word_comes_back() {
    for (_, mut data) in
        messages(&cloud_path("ros2.mcap")).into_iter().filter(|(_, data)| data.len() > 2)
    {
        for fill in [0, 0, 7] {
            data.push(fill);
            let (packed, _, _) =
                Cloud::parse(RosEncoding::Cdr, false, &data).unwrap().pack(&exact().plan).unwrap();
            let back = Cloud::parse(RosEncoding::Cdr, true, &packed).unwrap().unpack().unwrap();
            assert!(back == data, "{} bytes and {fill} behind them", data.len());
        }
    }
}

#[test]
fn what_is_no_cloud_is_refused() {
    let given = messages(&cloud_path("ros2.mcap"));
    let (_, data) = given.iter().find(|(_, data)| data.len() > 2000).unwrap();
    let error = |data: &[u8], is_packed| {
        let outcome =
            Cloud::parse(RosEncoding::Cdr, is_packed, data).and_then(|cloud| match is_packed {
                true => cloud.unpack().map(drop),
                false => cloud.pack(&Plan::default()).map(drop),
            });
        format!("{:#}", outcome.expect_err("refused"))
    };
    assert!(error(&data[..3], false).contains("CDR header"));
    assert!(error(&data[..200], false).contains("ends within a field"));
    assert!(error(&[data.as_slice(), &[0; 8]].concat(), false).contains("bytes are left over"));
    let mut other = data.clone();
    other[1] = 7;
    assert!(error(&other, false).contains("0007 is not plain CDR"));
    // The width stands behind header and height: other rows than there are.
    let mut wide = data.clone();
    let at = wide.windows(4).position(|word| word == 30u32.to_le_bytes()).unwrap();
    wide[at] = 31;
    assert!(error(&wide, false)
        .contains("a row has 961 bytes, but the next row begins after 930 bytes"));
    let (packed, _, _) =
        Cloud::parse(RosEncoding::Cdr, false, data).unwrap().pack(&exact().plan).unwrap();
    let mut wide = packed.clone();
    wide[at] = 31;
    assert!(error(&wide, true).contains("60 points are packed, but the message declares 62"));
    wide[at + 2] = 0xff;
    assert!(error(&wide, true).contains("points"));
    let at = packed.windows(8).position(|word| word == b"wgpacked").unwrap();
    let mut foreign = packed.clone();
    foreign[at..at + 8].copy_from_slice(b"cloudini");
    assert!(error(&foreign, true).contains("the format 'cloudini', not 'wgpacked'"));
    let rule = Rule { column: "ring".into(), how: How::Resolution(1.0, "") };
    let plan = Plan { rules: vec![rule], ..Plan::default() };
    let refused = Cloud::parse(RosEncoding::Cdr, false, data).unwrap().pack(&plan).unwrap_err();
    assert!(refused.to_string().contains("the resolution of column 'ring'"), "{refused}");
}

#[test]
fn nothing_is_finished_that_its_user_would_misread() {
    let given = messages(&cloud_path("ros2.mcap"));
    let run = |options: PackOptions| {
        let mut writer =
            Box::new(Packer::new(Box::new(RecordingWriter::default()), "a", options).0);
        for (channel, data) in &given {
            let id = writer.add_channel(channel).unwrap();
            writer.write_message(id, &head(data), data).unwrap();
        }
        writer.finish().unwrap_err().to_string()
    };
    let rules = vec!["range=exact".parse().unwrap()];
    let plan = Plan { rules, ..Plan::default() };
    let missing = run(PackOptions { plan, ..PackOptions::default() });
    assert!(missing.starts_with("a has no column range; it has normal[0]"), "{missing}");
    let packer: Box<dyn Writer> =
        Box::new(Packer::new(Box::new(RecordingWriter::default()), "a", exact()).0);
    assert!(packer.finish().unwrap_err().to_string().contains("a has nothing to pack"));
    let unpacker: Box<dyn Writer> =
        Box::new(Unpacker::new(Box::new(RecordingWriter::default()), "a", false).0);
    assert!(unpacker.finish().unwrap_err().to_string().contains("a has no packed fields"));
}

/// Whatever takes a turn of a loop for each of these rows takes half a minute.
#[test]
fn four_billion_rows_without_points_are_none() {
    let all = messages(&cloud_path("ros2.mcap"));
    let mut data = all.into_iter().map(|(_, data)| data).find(|data| data.len() > 200).unwrap();
    let number = |data: &[u8], at: usize| u32::from_le_bytes(*data[at..].first_chunk().unwrap());
    // Behind the encapsulation, the time and the name of the frame.
    let height = (16 + number(&data, 12) as usize).next_multiple_of(4);
    let width = height + 4;
    let points = number(&data, width);
    let is_step = |at: &usize| {
        let step = number(&data, *at);
        step > 0 && step.checked_mul(points) == Some(number(&data, at + 4))
    };
    let step = (width + 4..data.len() - 8).step_by(4).find(is_step).unwrap();
    for (at, value) in [(height, u32::MAX), (width, 0), (step + 4, 0)] {
        data[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    let cloud = Cloud::parse(RosEncoding::Cdr, false, &data).unwrap();
    let (packed, _, left_out) = cloud.pack(&exact().plan).unwrap();
    assert_eq!(left_out, u64::from(number(&data, step + 8)));
    let packed = Cloud::parse(RosEncoding::Cdr, true, &packed).unwrap();
    assert!(packed.unpack().is_ok());
}

proptest! {
    #[test]
    fn damaged_clouds_never_panic(
        which in 0..9usize,
        hits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        for (file, is_packed, wire) in [
            ("ros2.mcap", false, RosEncoding::Cdr),
            ("ros2.packed.mcap", true, RosEncoding::Cdr),
            ("ros1.packed.mcap", true, RosEncoding::Ros1),
        ] {
            let all = messages(&cloud_path(file));
            let mut data = all[which % all.len()].1.clone();
            for (at, byte) in &hits {
                let at = at.index(data.len());
                data[at] = *byte;
            }
            if let Some(cut) = cut {
                data.truncate(cut.index(data.len()));
            }
            if let Ok(cloud) = Cloud::parse(wire, is_packed, &data) {
                let _ = cloud.pack(&exact().plan);
                let _ = cloud.unpack();
            }
        }
    }
}
